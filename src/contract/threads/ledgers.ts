import { z } from 'zod';
import { ledgersStateSchema } from '../http/state.ts';
import { sessionLineSchema } from '../ledger.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Calls that the main thread makes to the ledgers component. */
export const ledgersCalls = {
  state: { input: z.object({}), output: ledgersStateSchema, deadline_ms: 5_000 },
  /** Lines of `sessions.jsonl`, oldest first; `uid` narrows to one fiber (TMP-2). */
  sessions: {
    input: z.object({ uid: z.string().optional() }),
    output: z.object({ sessions: z.array(sessionLineSchema) }),
    deadline_ms: 10_000,
  },
  /** What the sessions ledger has of one harness session, oldest first; `session` may be an app's thread id. */
  lines_of_session: {
    input: z.object({ session: z.string() }),
    output: z.object({ lines: z.array(sessionLineSchema) }),
    deadline_ms: 10_000,
  },
} satisfies CallTable;

export const ledgersEvents = {} satisfies EventTable;
