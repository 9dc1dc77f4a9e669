import { z } from 'zod';
import { messageRequestSchema, receiptSchema } from '../http/messages.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import { bulkFileSchema } from './bulk-file.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** A checked message; the bytes of its files are in the bulk. */
export const checkedMessageSchema = messageRequestSchema
  .omit({ attachments: true, origin: true })
  .extend({ files: z.array(bulkFileSchema).default([]) });
export type CheckedMessage = z.output<typeof checkedMessageSchema>;

/** What is kept of a message that was sent at that time, in milliseconds. */
const keptMessageSchema = z.object({ sent_at: z.number(), text: z.string(), receipt: receiptSchema });
export type KeptMessage = z.infer<typeof keptMessageSchema>;

/** Calls that the main thread makes to the messages component. */
export const messagesCalls = {
  /**
   * Delivers a message, or answers with the receipt of the same one. Throws `invalid_address`, `unsupported_harness`,
   * `preflight_failed` and `store_unavailable` (nothing was kept), and `message_id_conflict`.
   */
  send: {
    input: checkedMessageSchema,
    output: rehearsalSchema.or(receiptSchema),
    deadline_ms: 45_000,
  },
  /** The texts and receipts of messages by their ids, after another look at those given lately; without what is not kept. */
  texts: {
    input: z.object({ ids: z.array(z.string()) }),
    output: z.object({ messages: z.array(keptMessageSchema) }),
    deadline_ms: 10_000,
  },
} satisfies CallTable;

export const messagesEvents = {} satisfies EventTable;
