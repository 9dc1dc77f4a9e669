import { z } from 'zod';
import { closingSchema } from '../http/life.ts';
import { ledgersStateSchema } from '../http/state.ts';
import { commitLineSchema, messageLineSchema, sessionLineSchema } from '../ledger.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** The complete body comes as bulk, with the tag of the files that it was made from. */
const finishedBody = z.object({ etag: z.string() });
/** Long, because the first answer waits for the first read of the files. */
const READING_MS = 30_000;

/** A page of messages: of a fiber by its uid or id, or of a session. */
const askedConversationSchema = z.object({
  fiber: z.string().optional(),
  session: z.string().optional(),
  limit: z.number().int(),
  before: z.string().optional(),
});
export type AskedConversation = z.infer<typeof askedConversationSchema>;

/** Calls that the main thread makes to the ledgers component. */
export const ledgersCalls = {
  state: { input: z.object({}), output: ledgersStateSchema, deadline_ms: 5_000 },
  /** Lines of `sessions.jsonl`, oldest first; `uid` narrows to one fiber (TMP-2). */
  sessions: {
    input: z.object({ uid: z.string().optional() }),
    output: z.object({ sessions: z.array(sessionLineSchema) }),
    deadline_ms: 10_000,
  },
  /** Lines of one harness session in the sessions ledger, oldest first; `session` may be an app's thread id. */
  lines_of_session: {
    input: z.object({ session: z.string() }),
    output: z.object({ lines: z.array(sessionLineSchema) }),
    deadline_ms: 10_000,
  },
  /**
   * Body of `GET /activity` (TMP-1) in pieces; the window in whole minutes. `known` are ids of pieces that the caller
   * already has from the same epoch (one life of the thread); they have a `length` of null and no bytes. The bytes of
   * the others come concatenated as bulk. The first `skip` bytes of each piece do not belong to this body.
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
  /** The commits whose names begin so, in lower case; at most two of them. */
  commits_named: {
    input: z.object({ sha: z.string() }),
    output: z.object({ commits: z.array(commitLineSchema) }),
    deadline_ms: 10_000,
  },
  /** Body of `GET /sent-files/all` (TMP-4), or with `uid` of `GET /sent-files` (TMP-5). */
  sent_files: {
    input: z.object({ host: z.string(), uid: z.string().optional() }),
    output: finishedBody,
    deadline_ms: READING_MS,
  },
  /**
   * What `messages.jsonl` tells of a conversation, oldest first. `before` asks for the page before this one, null if there
   * is none; `known` is false for a fiber that no session has had.
   */
  conversation: {
    input: askedConversationSchema,
    output: z.object({
      messages: z.array(messageLineSchema),
      before: z.string().nullable(),
      known: z.boolean(),
    }),
    deadline_ms: READING_MS,
  },
  /** Body of `GET /fiber-life`. */
  fiber_life: {
    input: z.object({
      ...{ host: z.string(), uid: z.string(), limit: z.number().int() },
      before_ms: z.number().optional(),
      closing: closingSchema.nullable(),
    }),
    output: finishedBody,
    deadline_ms: READING_MS,
  },
} satisfies CallTable;

export const ledgersEvents = {
  /** A ledger file has changed: the new inputs of the tags of the bodies. */
  ledgers_changed: z.object({
    ...{ events: z.string(), sessions: z.string(), commits: z.string(), messages: z.string() },
  }),
} satisfies EventTable;
