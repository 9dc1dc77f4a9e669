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
} satisfies CallTable;

export const messagesEvents = {} satisfies EventTable;
