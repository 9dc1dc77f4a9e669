import { messageRequestSchema, receiptSchema } from '../http/messages.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Calls that the main thread makes to the messages component. */
export const messagesCalls = {
  /**
   * Delivers a message, or answers with the receipt of the same one. Throws `invalid_address`, `unsupported_harness`,
   * `preflight_failed` (nothing was kept) and `message_id_conflict`.
   */
  send: {
    input: messageRequestSchema.omit({ attachments: true, origin: true }),
    output: rehearsalSchema.or(receiptSchema),
    deadline_ms: 45_000,
  },
} satisfies CallTable;

export const messagesEvents = {} satisfies EventTable;
