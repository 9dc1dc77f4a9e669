import { z } from 'zod';
import { jsonOf } from '../base/json-text.ts';
import { changedBySchema } from './asked-by.ts';
import { RECEIPT_STATUSES } from './http/messages.ts';

/** What may become of the document of a fiber, as `sessions.jsonl` has it. */
export const DOCUMENT_CHANGES = ['closed', 'accepted', 'composted', 'reopened'] as const;

/** One line of `sessions.jsonl`: which fiber a harness session belongs to (TMP-2). `at` in milliseconds. */
export const sessionLineSchema = z.looseObject({
  /** Null for a capture, which has no fiber yet. */
  fiber: z.string().nullable(),
  uid: z.string().nullable(),
  /** Transcript identity; null until a harness that assigns its own id has reported it. */
  session: z.string().nullable(),
  thread_id: z.string().nullable(),
  harness: z.string(),
  /** Id in the agent registry. */
  agent: z.string().optional(),
  host: z.string(),
  mux: z.string().nullable(),
  at: z.number(),
  /**
   * `ended`: the run ended at that time, for its `reason`. `accepted` with a run: the daemon accepted it by itself; with
   * `by` it is, as `closed`, `composted` and `reopened`, a change of the document, and names no session. `resume` and
   * `adopt` begin a run as `dispatch` does; this daemon reads both and writes neither.
   */
  kind: z.enum([
    ...(['dispatch', 'claim', 'capture', 'learned', 'ended', 'resume', 'adopt'] as const),
    ...DOCUMENT_CHANGES,
  ]),
  /** Of a change of the document: who made it, and the host whose daemon passed the request on. */
  by: changedBySchema.optional(),
  from: z.string().optional(),
  /** Of an end: `handoff`, `kill`, `exited`, `server_lost`, … */
  reason: z.string().optional(),
  /** A phrase about the end, if the reason does not say everything. */
  detail: z.string().optional(),
  /** Of a death: the likely fix. The last lines of the screen of a death, or of an agent that was left. */
  mend: z.string().optional(),
  screen: z.string().optional(),
  run_id: z.string().optional(),
  /** For a dispatch that resumed an earlier conversation. */
  resumed: z.boolean().optional(),
  /** Of a dispatch: whether a person or program asked for it, or the daemon saw it due. */
  by_request: z.boolean().optional(),
});
export type SessionLine = z.infer<typeof sessionLineSchema>;

/** Types of the events in `events.jsonl`; lines of other types are kept but ignored. */
export const EVENT_TYPES = [
  'session_start',
  'user_prompt_submit',
  'pre_tool_use',
  'post_tool_use',
  'stop',
  'stop_failure',
  'subagent_stop',
  'notification',
  'session_end',
  /** A person wrote to a worker; the daemon adds it. */
  'message',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One line of `commits.jsonl`: which session made a commit, with data from `git` (TMP-3). */
export const commitLineSchema = z.looseObject({
  at: z.number(),
  kind: z.literal('commit'),
  sha: z.string().regex(/^[0-9a-f]{40,64}$/),
  subject: z.string(),
  repo: z.string(),
  files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
  session: z.string().nullable(),
  mux: z.string().nullable(),
  cwd: z.string(),
});
export type CommitLedgerLine = z.infer<typeof commitLineSchema>;

/**
 * One line of `messages.jsonl`: a stage that a message came to. Never its text. Each line tells the whole message; of two
 * lines of one stage the later one counts. Times in milliseconds.
 */
export const messageLineSchema = z.looseObject({
  /** When this stage was seen. */
  at: z.number(),
  id: z.string(),
  /** When it was accepted from its sender; tells two messages of one id apart. */
  sent_at: z.number(),
  /** The address of a session, or the name of a person. */
  from: z.string(),
  to: z.string(),
  /** Null while it was given to no worker. */
  fiber: z.string().nullable(),
  uid: z.string().nullable(),
  status: z.enum(RECEIPT_STATUSES),
  transport: z.string(),
  /** Of a rejection. */
  reason: z.string().optional(),
  /** Size of the text in UTF-8. */
  bytes: z.number().int(),
  wake: z.boolean(),
  /** How many messages of its two sessions it answers, one the other, without an hour's pause. */
  hops: z.number().int().default(0),
});
export type MessageLine = z.infer<typeof messageLineSchema>;

/** Null for what is no line of it, such as the rest of one whose beginning was cut off. */
export function parseMessageLine(text: string): MessageLine | null {
  return messageLineSchema.safeParse(jsonOf(text)).data ?? null;
}
