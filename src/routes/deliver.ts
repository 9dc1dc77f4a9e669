import { randomUUID } from 'node:crypto';
import { sleep } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { newNonce } from '../base/nonce.ts';
import { refusalStatus } from '../contract/error-codes.ts';
import type { FiberRow } from '../contract/fiber.ts';
import { harnessNameSchema } from '../contract/harness-name.ts';
import type { Refused } from '../contract/http/dispatch.ts';
import type { DeliverRequest, RefusedDelivery } from '../contract/http/messages.ts';
import { firstTextForAgent } from '../contract/message-text.ts';
import { printAddress } from '../contract/session-address.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { Deliveries, type DeliveryAnswer, type Worker } from './deliveries.ts';

/** Who writes where nobody says it. */
const SOMEBODY = 'the operator';

/** How long a start may take to have its session, and between two looks, in milliseconds. */
const STARTING_MS = 15_000;
const LOOK_MS = 250;

export type Deliver = {
  deliver(request: DeliverRequest): Promise<DeliveryAnswer>;
  /** The session of the fiber's worker, which is waited for while it starts, so many milliseconds at most. */
  sessionOf(fiber_id: string, wait_ms?: number): Promise<Worker>;
};

/**
 * Gives a text to the worker of a fiber of this host, or starts one with it (WPL-10). One with a `message_id` is made once.
 */
export function createDeliver(
  { messages, poller }: Pick<Callers, 'messages' | 'poller'>,
  { host, clock }: Pick<RouteContext, 'host' | 'clock'>,
): Deliver {
  const sessionOf = async (fiber_id: string, wait_ms = STARTING_MS): Promise<Worker> => {
    const until = clock.monotonic() + wait_ms;
    for (;;) {
      const { id, runtime } = (await poller.call('fiber', { id: fiber_id })).fiber;
      const address = addressOf(host, runtime);
      if (runtime === undefined || address !== null) return { id, address };
      // A start would end the worker that is starting.
      if (clock.monotonic() >= until)
        throw new CodedError(
          'deadline_exceeded',
          `the worker of ${id} is starting, and has no session to write to yet; send the text again in a moment`,
        );
      await sleep(clock, LOOK_MS);
    }
  };
  const give = async (
    { text, from = SOMEBODY, message_id = randomUUID(), dry_run }: DeliverRequest,
    { id, address }: Worker,
  ): Promise<DeliveryAnswer> => {
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
    const user_message = from === SOMEBODY ? text : firstTextForAgent({ nonce: newNonce(), from, text });
    const outcome = await poller.call('dispatch', {
      ...{ fiber_id: id, force: true, user_message, dry_run: dry_run ?? false },
      resume_mode: 'continue',
    });
    if ('reason' in outcome) return { status: refusalStatus(outcome.reason), json: refused(outcome) };
    if (!('dispatched' in outcome)) return { status: 200, json: outcome };
    const delivery = outcome.resumed === true ? 'resume' : 'dispatch';
    return { status: 200, json: { ...outcome, delivered: true, delivery } };
  };
  const deliveries = new Deliveries();
  return {
    sessionOf,
    async deliver(request) {
      const { message_id, dry_run, fiber_id } = request;
      if (message_id === undefined || dry_run) return give(request, await sessionOf(fiber_id));
      return deliveries.once(message_id, request, {
        worker: () => sessionOf(fiber_id),
        deliver: (worker) => give({ ...request, message_id }, worker),
      });
    },
  };
}

/** Only a start that goes on with the previous conversation is refused because that one is open elsewhere (RES-9). */
function refused(outcome: Refused): RefusedDelivery {
  const delivery = outcome.reason === 'session_open_in_resume' ? 'resume' : 'dispatch';
  return { ...outcome, delivered: false, delivery };
}

function addressOf(host: string, runtime: FiberRow['runtime']): string | null {
  const harness = harnessNameSchema.safeParse(runtime?.harness ?? '');
  if (runtime === undefined || runtime.session_uuid === null || !harness.success) return null;
  return printAddress({ host, harness: harness.data, native_id: runtime.session_uuid });
}
