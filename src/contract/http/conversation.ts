import { z } from 'zod';
import { storedFileSchema } from './attachments.ts';
import { referenceSchema, wholeNumber } from './bounded.ts';
import { RECEIPT_STATUSES } from './messages.ts';
import { sessionIdSchema } from './transcripts.ts';

/** Most messages in one answer, and how many without a `limit`. */
export const MOST_MESSAGES = 200;
const MESSAGES = 50;

/** When a message was sent, and its id. */
const CURSOR = /^\d{1,15}(\.\d{1,9})?-[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `GET /messages?fiber=|session=&limit=&before=`: the newest messages of a conversation, or the newest before a page. */
export const conversationQuerySchema = z
  .object({
    fiber: referenceSchema.min(1, { error: 'must be the id or the uid of a fiber' }).optional(),
    session: sessionIdSchema.optional(),
    limit: wholeNumber(1, MOST_MESSAGES).default(MESSAGES),
    before: z.string().regex(CURSOR, { error: 'must be the `before` of an earlier answer' }).optional(),
    origin: z.string().optional(),
  })
  .refine(({ fiber, session }) => (fiber === undefined) !== (session === undefined), {
    path: ['fiber'],
    message: 'must be given, or else session: whose messages these are',
  });

/** One message, with its furthest stage. Times in milliseconds. */
const conversationMessageSchema = z.object({
  message_id: z.string(),
  sent_at: z.number(),
  /** The address of a session, or the name of a person. */
  from: z.string(),
  to: z.string(),
  /** Whose worker it was written to; null if that is not known. */
  fiber: z.string().nullable(),
  uid: z.string().nullable(),
  status: z.enum(RECEIPT_STATUSES),
  transport: z.string(),
  /** The sentence of the receipt; null if the message is not kept any more, as its text. */
  detail: z.string().nullable(),
  reason: z.string().optional(),
  /** When this stage was seen. */
  at: z.number(),
  wake: z.boolean(),
  /** How many messages of its two sessions it answers, one the other, without an hour's pause. */
  hops: z.number().int(),
  /** Size of the text in UTF-8. */
  bytes: z.number().int(),
  text: z.string().nullable(),
  /** Its files on this host; absent without files. */
  files: z.array(storedFileSchema).optional(),
});
export type ConversationMessage = z.infer<typeof conversationMessageSchema>;

/** Oldest first. `before` asks for the messages before these; null if there are none. */
export const conversationSchema = z.object({
  host: z.string(),
  messages: z.array(conversationMessageSchema),
  before: z.string().nullable(),
});
export type Conversation = z.infer<typeof conversationSchema>;
