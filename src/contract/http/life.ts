import { z } from 'zod';
import { changedBySchema } from '../asked-by.ts';
import { wholeNumber } from './bounded.ts';
import { RECEIPT_STATUSES } from './messages.ts';

/** Most entries in one answer, and how many without a `limit`. */
export const MOST_ENTRIES = 1_000;
const ENTRIES = 200;

/** `GET /fiber-life?uid=&limit=&before_ms=`: the newest entries of one fiber, or the newest before a time. */
export const lifeQuerySchema = z.object({
  uid: z
    .string({ error: 'must be given: the uid of a fiber' })
    .min(1, { error: 'must be the uid of a fiber' }),
  limit: wholeNumber(1, MOST_ENTRIES).default(ENTRIES),
  /** The ledgers may hold a time with decimals, which comes back here as an entry has it. */
  before_ms: z
    .string()
    .regex(/^-?\d{1,15}(\.\d{1,9})?$/, { error: 'must be a time in milliseconds since 1970' })
    .transform(Number)
    .optional(),
  origin: z.string().optional(),
});

const session = z.string().nullable();
/** From the beginning of the run to its end; null if its beginning is unknown. */
const lasted_ms = z.number().nullable();

/** Who changed the document; absent where the daemon did not see it happen, as while none ran. */
const changed = {
  by: changedBySchema.optional(),
  /** The host whose daemon passed the request on. */
  from: z.string().optional(),
  /** The agent whose run it was, where `by` is `agent`. */
  agent: z.string().optional(),
};

/** A commit that a session of the fiber made. */
export const lifeCommitSchema = z.object({
  at: z.number(),
  kind: z.literal('commit'),
  session,
  sha: z.string(),
  subject: z.string(),
  repo: z.string(),
  files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
});
export type LifeCommit = z.infer<typeof lifeCommitSchema>;

/**
 * Something that happened to a fiber; `at` in milliseconds. `session` of a `dispatch` stands for the conversation it
 * began or, of a `resume`, went on with. Prompts are counted by minute, the oldest by hour or day.
 */
export const lifeEntrySchema = z.union([
  z.object({
    at: z.number(),
    kind: z.enum(['dispatch', 'resume', 'claim', 'capture', 'adopt']),
    session,
    harness: z.string(),
    agent: z.string().nullable(),
    mux_session: z.string().nullable(),
    run_id: z.string().nullable(),
    /** Whether a person or program asked for the start, or the daemon saw it due; absent where that was not recorded. */
    by_request: z.boolean().optional(),
  }),
  /** The worker went on in another conversation, as after `/clear`. */
  z.object({ at: z.number(), kind: z.literal('session'), session }),
  z.object({ at: z.number(), kind: z.literal('handoff'), session, lasted_ms }),
  /** A run that was over without a handoff. */
  z.object({
    at: z.number(),
    kind: z.literal('ended'),
    session,
    lasted_ms,
    reason: z.string(),
    /** A phrase on it, where the reason alone does not say all. */
    detail: z.string().optional(),
    /** The likely fix of what caused a death; absent for an end that was none. */
    mend: z.string().optional(),
    /** The last lines of its screen. */
    screen: z.string().optional(),
  }),
  /** A message to a session of the fiber, or from one; `at` is when it was sent, `status` its furthest stage. */
  z.object({
    at: z.number(),
    kind: z.literal('message'),
    session,
    message_id: z.string(),
    direction: z.enum(['received', 'sent']),
    from: z.string(),
    to: z.string(),
    status: z.enum(RECEIPT_STATUSES),
    transport: z.string(),
    bytes: z.number().int(),
  }),
  z.object({ at: z.number(), kind: z.literal('prompts'), session, count: z.number().int() }),
  lifeCommitSchema,
  z.object({ at: z.number(), kind: z.literal('sent'), session, files: z.array(z.string()) }),
  z.object({ at: z.number(), kind: z.enum(['closed', 'reopened']), session, ...changed }),
  /**
   * The verdict of a document, or of one run. Without `exact` its time is not kept, and `at` is that of the last write of the
   * document, which is the verdict or came after it.
   */
  z.object({
    at: z.number(),
    kind: z.enum(['accepted', 'composted']),
    session,
    exact: z.boolean(),
    ...changed,
    /** The daemon accepted this run of a role with `auto_accept`; absent where a person judged. */
    by_itself: z.object({ run: z.string().nullable(), began_at: z.number().nullable() }).optional(),
  }),
]);
export type LifeEntry = z.infer<typeof lifeEntrySchema>;

/**
 * Oldest entry first. `earlier` entries are older than these; they follow with `before_ms` set to the `at` of the first
 * entry. Entries of one time are never parted, so that there may be more than `limit`.
 */
export const lifeSchema = z.object({
  host: z.string(),
  uid: z.string(),
  entries: z.array(lifeEntrySchema),
  earlier: z.number().int(),
});
export type Life = z.infer<typeof lifeSchema>;

/** What the document of a fiber tells of its own end. */
export const closingSchema = z.object({
  status: z.string(),
  tempered: z.boolean().optional(),
  closed_at: z.string().optional(),
  updated_at: z.string().optional(),
});
export type Closing = z.infer<typeof closingSchema>;
