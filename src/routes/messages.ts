import { HARNESS_NAMES } from '../contract/harness-name.ts';
import { deliveredSchema, deliverRequestSchema, refusedDeliverySchema } from '../contract/http/deliver.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { messageRequestSchema, receiptSchema } from '../contract/http/messages.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { hostIn, printAddress } from '../contract/session-address.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { Deliver } from './deliver.ts';
import { keyOf } from './once-by-id.ts';

const REQUEST_LIMIT = 8 * 1024 * 1024;
export const MESSAGE_EXAMPLE = {
  address: printAddress({ host: 'this-host', harness: HARNESS_NAMES[0], native_id: 'no-session' }),
  text: 'Please look at the last commit.',
  from: 'ada',
  message_id: 'example-1',
  dry_run: true,
};

/** The owner of a message is the host in its address (MSG-1). */
export const BY_ADDRESS = { field: 'address', hostIn };

const refusedOrErrorSchema = refusedDeliverySchema.or(errorBodySchema);

/** Messages to running sessions, and to fibers whatever their state (WPL-10, WPL-23). */
export function messagesRows(
  { messages }: Pick<Callers, 'messages'>,
  { deliver, deliverAgain }: Pick<Deliver, 'deliver' | 'deliverAgain'>,
): Row[] {
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/messages',
      summary: 'Sends a message to a running session, once for each `message_id`',
      example: { body: MESSAGE_EXAMPLE },
      needs: 'session',
      page: 'messages.md',
      routing: 'host',
      addressed: BY_ADDRESS,
      state: 'always',
      body: messageRequestSchema,
      body_limit: REQUEST_LIMIT,
      checks_answer: true,
      once_by_id: true,
      replies: { 200: receiptSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await messages.call('send', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/deliver',
      summary: 'Gives a text to the worker of a fiber, or starts one with it',
      example: { body: { fiber_id: 'say-hello', text: 'Please look at the last commit.', dry_run: true } },
      page: 'messages.md',
      routing: 'owner',
      state: 'ready',
      body: deliverRequestSchema,
      body_limit: REQUEST_LIMIT,
      once_by_id: true,
      replies: {
        200: deliveredSchema.or(rehearsalSchema),
        422: refusedDeliverySchema,
        502: refusedOrErrorSchema,
        503: refusedOrErrorSchema,
      },
      handler: (request) =>
        deliver({ ...request.body, message_id: request.body.message_id ?? keyOf(request) }),
      repeated: (request, first) =>
        deliverAgain({ ...request.body, message_id: request.body.message_id ?? keyOf(request) }, first),
    }),
  ];
}
