import { z } from 'zod';
import type { CallTable } from './call-table.ts';
import { messageTargetQuerySchema, messageTargetSchema } from './message-target.ts';

/** Calls that any worker thread makes to the main thread. */
export const hostCalls = {
  /** Runs one job of the pool; bulk bytes pass through untouched. */
  pool: {
    input: z.object({ job: z.string(), input: z.unknown(), deadline_ms: z.number() }),
    output: z.unknown(),
    deadline_ms: 60_000,
  },
  /** Asks the poller which session of this host a message is for. */
  message_target: { input: messageTargetQuerySchema, output: messageTargetSchema, deadline_ms: 6_000 },
} satisfies CallTable;
