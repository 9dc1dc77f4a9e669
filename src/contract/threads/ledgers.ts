import { z } from 'zod';
import { ledgersStateSchema } from '../http/state.ts';
import { sessionLineSchema } from '../ledger.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** The finished body comes beside the value, with the tag of the very files that it was made from. */
const finishedBody = z.object({ etag: z.string() });
/** A first reading of long files comes before the first answer. */
const READING_MS = 30_000;

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
  /**
   * Body of `GET /activity` (TMP-1) in pieces; the window in whole minutes. `known` are ids of pieces that came before
   * in the same epoch, which is one life of the thread; their `length` is null, and their bytes are left out. The others
   * come one after another beside the value. Of each piece `skip` bytes at its beginning do not belong to this body.
   */
  activity: {
    input: z.object({
      ...{ host: z.string(), from_ms: z.number().int(), to_ms: z.number().int() },
      known: z.object({ epoch: z.string(), ids: z.array(z.number().int()) }).nullable(),
    }),
    output: z.object({
      etag: z.string(),
      epoch: z.string(),
      pieces: z.array(
        z.object({
          ...{ id: z.number().int().nullable(), skip: z.number().int() },
          length: z.number().int().nullable(),
        }),
      ),
    }),
    deadline_ms: READING_MS,
  },
  /** Body of `GET /sessions` (TMP-2). */
  sessions_body: {
    input: z.object({ host: z.string(), uid: z.string().optional() }),
    output: finishedBody,
    deadline_ms: READING_MS,
  },
  /** Body of `GET /commits` (TMP-3). */
  commits: { input: z.object({ host: z.string() }), output: finishedBody, deadline_ms: READING_MS },
  /** Body of `GET /sent-files/all` (TMP-4), or with `uid` of `GET /sent-files` (TMP-5). */
  sent_files: {
    input: z.object({ host: z.string(), uid: z.string().optional() }),
    output: finishedBody,
    deadline_ms: READING_MS,
  },
} satisfies CallTable;

export const ledgersEvents = {
  /** A ledger file is another than it was: what the tags of the bodies are made of now. */
  ledgers_changed: z.object({ events: z.string(), sessions: z.string(), commits: z.string() }),
} satisfies EventTable;
