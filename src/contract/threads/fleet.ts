import { z } from 'zod';
import { fleetStateSchema } from '../http/state.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Calls that the main thread makes to the fleet component. */
export const fleetCalls = {
  state: { input: z.object({}), output: fleetStateSchema, deadline_ms: 5_000 },
} satisfies CallTable;

export const fleetEvents = {} satisfies EventTable;
