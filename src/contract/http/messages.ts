import { z } from 'zod';
import { canonicalAddress, looksLikeAddress } from '../session-address.ts';
import { storedFileSchema } from './attachments.ts';
import { oneLine, promptSchema, referenceSchema } from './bounded.ts';
import { dryRunField } from './rehearsal.ts';

/** The furthest stage that was seen (MDS-1). */
export const RECEIPT_STATUSES = [
  'accepted',
  'context_added',
  'submitted',
  'queued',
  'unknown',
  'rejected',
] as const;
export type ReceiptStatus = (typeof RECEIPT_STATUSES)[number];

/** It is part of the text that the agent reads. */
const MESSAGE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const messageIdSchema = z
  .string()
  .regex(MESSAGE_ID, 'takes 1 to 64 letters, digits, ".", "_" and "-", and starts with a letter or digit');

/** Everything but a newline and a tab: a terminal would take it as a key. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** `POST /messages` (WPL-23, MSG-1 to MSG-3). */
export const messageRequestSchema = z.object({
  /** `svc://HOST/HARNESS/NATIVE_ID`. */
  address: referenceSchema.min(1),
  text: promptSchema
    .min(1)
    .transform((text) => text.replaceAll('\r\n', '\n'))
    .refine((text) => text.trim() !== '', 'is empty')
    .refine((text) => text.isWellFormed(), 'is not well-formed Unicode')
    .refine((text) => !CONTROL.test(text), 'has a control character; only newlines and tabs can be sent'),
  /** Who writes: the address of a session, which an agent answers to, or the name of a person. */
  from: oneLine(z.string().min(1).max(300))
    .refine((from) => !/[[\]]/.test(from), 'takes no brackets; leave them out')
    .refine(
      (from) => !looksLikeAddress(from) || canonicalAddress(from) !== null,
      'begins as an address and is none; give svc://HOST/HARNESS/SESSION_ID, or a name',
    )
    .transform((from) => canonicalAddress(from) ?? from),
  /** False: context for the next turn, which the message itself does not start. */
  wake: z.boolean().default(true),
  message_id: messageIdSchema,
  attachments: z.never('takes no files; send them to /api/v1/messages/files').optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type MessageRequest = z.input<typeof messageRequestSchema>;
export type Message = z.output<typeof messageRequestSchema>;

/** A receipt. It never says that the recipient acted on the message (RCP-5). */
export const receiptSchema = z.object({
  message_id: z.string(),
  /** With the canonical name of the harness. */
  address: z.string(),
  status: z.enum(RECEIPT_STATUSES),
  /**
   * How it reached the session: `terminal`, `extension`, `app-server`, `hook-mailbox` for context alone; `held` while it
   * waits for the session to be ready; `none`.
   */
  transport: z.string(),
  /** A sentence for a person. */
  detail: z.string(),
  /** Why it was rejected: `session_unavailable`, `session_not_found`, `wake_refused` or `wake_required`. */
  reason: z.string().optional(),
  /** Its files, where this host keeps them for the session; absent without files, and of a rejected message. */
  files: z.array(storedFileSchema).optional(),
  /** When this stage was seen, in milliseconds since the Unix epoch. */
  at: z.number(),
});
export type Receipt = z.infer<typeof receiptSchema>;
