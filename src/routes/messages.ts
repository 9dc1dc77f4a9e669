import { randomUUID } from 'node:crypto';
import { sleep } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { refusalStatus } from '../contract/error-codes.ts';
import type { FiberRow } from '../contract/fiber.ts';
import { HARNESS_NAMES, harnessNameSchema } from '../contract/harness-name.ts';
import { refusedSchema } from '../contract/http/dispatch.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import {
  type DeliverRequest,
  deliveredSchema,
  deliverRequestSchema,
  messageRequestSchema,
  receiptSchema,
} from '../contract/http/messages.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { firstTextForAgent } from '../contract/message-text.ts';
import { hostIn, printAddress } from '../contract/session-address.ts';
import { defineRow, type Reply, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { Deliveries, type Worker } from './deliveries.ts';

const REQUEST_LIMIT = 8 * 1024 * 1024;
/** Who writes where nobody says it. */
const SOMEBODY = 'the operator';

export const MESSAGE_EXAMPLE = {
  address: printAddress({ host: 'this-host', harness: HARNESS_NAMES[0], native_id: 'no-session' }),
  text: 'Please look at the last commit.',
  from: 'ada',
  message_id: 'example-1',
  dry_run: true,
};

/** The owner of a message is the host in its address (MSG-1). */
export const BY_ADDRESS = { field: 'address', hostIn };

/** How long a start may take to have its session, and between two looks, in milliseconds. */
const STARTING_MS = 15_000;
const LOOK_MS = 250;

const refusedOrErrorSchema = refusedSchema.or(errorBodySchema);

/** Messages to running sessions, and to fibers whatever their state (WPL-10, WPL-23). */
export function messagesRows(
  { messages, poller }: Pick<Callers, 'messages' | 'poller'>,
  { host, clock }: Pick<RouteContext, 'host' | 'clock'>,
): Row[] {
  /** The address of the session of the fiber's worker; null if it has no worker. */
  const sessionOf = async (fiber_id: string): Promise<Worker> => {
    const until = clock.now() + STARTING_MS;
    for (;;) {
      const { id, runtime } = (await poller.call('fiber', { id: fiber_id })).fiber;
      const address = addressOf(host, runtime);
      if (runtime === undefined || address !== null) return { id, address };
      // A start would end the worker that is starting.
      if (clock.now() >= until)
        throw new CodedError(
          'deadline_exceeded',
          `the worker of ${id} is starting, and has no session to write to yet; send the text again in a moment`,
        );
      await sleep(clock, LOOK_MS);
    }
  };
  const deliver = async (
    { text, from = SOMEBODY, message_id = randomUUID(), dry_run }: DeliverRequest,
    { id, address }: Worker,
  ): Promise<Reply> => {
    if (address !== null) {
      const receipt = await messages.call('send', {
        ...{ address, text, from, message_id, dry_run: dry_run ?? false, wake: true },
      });
      if ('dry_run' in receipt) return { status: 200, json: receipt };
      if (receipt.reason !== 'session_unavailable') {
        const delivered = receipt.status !== 'rejected';
        return { status: 200, json: { delivered, delivery: 'message', receipt } };
      }
    }
    const user_message = from === SOMEBODY ? text : firstTextForAgent({ from, text });
    const outcome = await poller.call('dispatch', {
      ...{ fiber_id: id, force: true, user_message, dry_run: dry_run ?? false },
      resume_mode: 'continue',
    });
    if ('reason' in outcome) return { status: refusalStatus(outcome.reason), json: outcome };
    if (!('dispatched' in outcome)) return { status: 200, json: outcome };
    const delivery = outcome.resumed === true ? 'resume' : 'dispatch';
    return { status: 200, json: { ...outcome, delivered: true, delivery } };
  };
  const deliveries = new Deliveries();
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
      replies: {
        200: deliveredSchema.or(rehearsalSchema),
        422: refusedSchema,
        502: refusedOrErrorSchema,
        503: refusedOrErrorSchema,
      },
      async handler({ body }) {
        const { message_id, dry_run } = body;
        if (message_id === undefined || dry_run) return deliver(body, await sessionOf(body.fiber_id));
        return deliveries.once(message_id, body, {
          worker: () => sessionOf(body.fiber_id),
          deliver: (worker) => deliver({ ...body, message_id }, worker),
        });
      },
    }),
  ];
}

function addressOf(host: string, runtime: FiberRow['runtime']): string | null {
  const harness = harnessNameSchema.safeParse(runtime?.harness ?? '');
  if (runtime === undefined || runtime.session_uuid === null || !harness.success) return null;
  return printAddress({ host, harness: harness.data, native_id: runtime.session_uuid });
}
