import { z } from 'zod';
import { referenceSchema } from './bounded.ts';
import { dispatchedSchema, refusedSchema } from './dispatch.ts';
import { messageIdSchema, messageRequestSchema, receiptSchema } from './messages.ts';
import { dryRunField } from './rehearsal.ts';

/** `POST /deliver` (WPL-10). */
export const deliverRequestSchema = z.object({
  fiber_id: referenceSchema.min(1),
  text: messageRequestSchema.shape.text,
  from: messageRequestSchema.shape.from.optional(),
  /** Names the delivery, so that the same one sent again is not made twice. */
  message_id: messageIdSchema.optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type DeliverRequest = z.input<typeof deliverRequestSchema>;

/**
 * `message`: sent to a worker that runs, or that another request has started meanwhile; its receipt tells how far it came.
 * Otherwise it is in the prompt of the worker that this very request started.
 */
export const deliveredSchema = z.discriminatedUnion('delivery', [
  z.object({ delivered: z.boolean(), delivery: z.literal('message'), receipt: receiptSchema }),
  dispatchedSchema.extend({ delivered: z.literal(true), delivery: z.literal('resume') }),
  dispatchedSchema.extend({ delivered: z.literal(true), delivery: z.literal('dispatch') }),
]);
export type Delivered = z.infer<typeof deliveredSchema>;

/** The refusal of the start that was to have the text, as `/dispatch` answers it. */
export const refusedDeliverySchema = refusedSchema.extend({
  delivered: z.literal(false),
  delivery: z.enum(['resume', 'dispatch']),
});
export type RefusedDelivery = z.infer<typeof refusedDeliverySchema>;
