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
   * Bulk out: msgpack `SweepResult` (fibers/sweep.ts). New documents beyond `most_new` are only named.
   */
  sweep_store: {
    input: z.object({ root: z.string(), most_new: z.number().int().optional() }),
    output: z.object({}),
    deadline_ms: 20_000,
  },
  /** Reads the documents that a sweep only named. Bulk in: their paths; bulk out: for `addDocuments`. */
  read_documents: { input: z.object({ root: z.string() }), output: z.object({}), deadline_ms: 20_000 },
  /** The description of the API (OpenAPI 3.1); bulk out: its JSON. */
  describe_api: { input: z.object({ version: z.string() }), output: z.object({}), deadline_ms: 30_000 },
  /**
   * Makes a folder a store where it is none; `dry_run` only looks. `root` is the folder, made absolute. Throws
   * `not_a_directory` (ERR-5).
   */
  init_store: {
    input: z.object({ path: z.string(), dry_run: z.boolean() }),
    output: z.object({ root: z.string(), initialised: z.boolean() }),
    deadline_ms: 10_000,
  },
} satisfies CallTable;
