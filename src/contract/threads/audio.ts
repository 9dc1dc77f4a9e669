import { z } from 'zod';
import { audioStateSchema } from '../http/state.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Calls that the main thread makes to the audio component. */
export const audioCalls = {
  state: { input: z.object({}), output: audioStateSchema, deadline_ms: 5_000 },
} satisfies CallTable;

export const audioEvents = {} satisfies EventTable;
