import { z } from 'zod';
import type { CallTable } from './call-table.ts';

/**
 * Stateless jobs of the pool. Bulk bytes go in and come out as transferred buffers, so the main thread
 * that owns the pool never encodes them.
 */
export const poolJobs = {
  /** A sign of life: the pool can run a job. */
  ping: { input: z.object({}), output: z.object({}), deadline_ms: 5_000 },
  /**
   * One stat sweep of a store. Bulk in: the opaque table an earlier sweep returned (empty for the first).
   * Bulk out: msgpack `SweepResult` (fibers/sweep.ts).
   */
  sweep_store: { input: z.object({ root: z.string() }), output: z.object({}), deadline_ms: 20_000 },
} satisfies CallTable;
