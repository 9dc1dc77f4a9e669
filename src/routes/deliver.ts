import { randomUUID } from 'node:crypto';
import { sleep } from '../base/clock.ts';
import { sha256Of } from '../base/digest.ts';
import { CodedError } from '../base/errors.ts';
import { newNonce } from '../base/nonce.ts';
import { refusalStatus } from '../contract/error-codes.ts';
import type { RunView } from '../contract/fiber.ts';
import { harnessNameSchema } from '../contract/harness-name.ts';
import type { DeliverRequest, RefusedDelivery } from '../contract/http/deliver.ts';
import type { Dispatched, DispatchRequest, Refused } from '../contract/http/dispatch.ts';
import { messageRequestSchema, type Receipt } from '../contract/http/messages.ts';
import type { Rehearsal } from '../contract/http/rehearsal.ts';
import { firstTextForAgent } from '../contract/message-text.ts';
import { printAddress } from '../contract/session-address.ts';
import type { StartRequest } from '../contract/threads/poller.ts';
import type { Reply } from '../http/reply.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** Who writes where nobody says it. */
const SOMEBODY = 'the operator';

/** How long a start may take to have its session, and between two looks, in milliseconds. */
const STARTING_MS = 15_000;
const LOOK_MS = 250;

/** How often a text is given to a worker, or to a start, where each worker ends before it has it. */
const MOST_TRIES = 3;

/** What a delivery is answered with. */
type DeliveryAnswer = { status: number; json: unknown };

/** The fiber of a delivery, and its worker: the address of its session and the run; null if it has none. */
type Worker = { id: string; address: string | null; run_id: string | null };

/** A text, who writes it, and the ids that it has as a message, one for each session that it is tried with. */
type Said = { text: string; from: string; ids: MessageIds };

type Started = Dispatched | Refused | Rehearsal;

export type Deliver = {
  deliver(request: DeliverRequest): Promise<DeliveryAnswer>;
  /** The delivery of a `message_id` again, with the answer that it had; null where that is not known. */
  deliverAgain(request: DeliverRequest, first: Reply | null): Promise<Reply>;
  /** `POST /dispatch`: its text is in the prompt of the worker that it starts, or a message to the one that runs. */
  dispatch(request: DispatchRequest, again?: Again): Promise<Started>;
  /** The session of the fiber's worker, which is waited for while it starts, so many milliseconds at most. */
  sessionOf(fiber_id: string, wait_ms?: number): Promise<Worker>;
};

/** The id of a request, and whether it may have been carried out before. */
type Again = Pick<StartRequest, 'message_id' | 'is_repeat'>;

/** Gives a text to the worker of a fiber of this host, or starts one with it (WPL-1, WPL-10). */
export function createDeliver(
  { messages, poller }: Pick<Callers, 'messages' | 'poller'>,
  { host, clock }: Pick<RouteContext, 'host' | 'clock'>,
): Deliver {
  const sessionOf = async (fiber_id: string, wait_ms = STARTING_MS): Promise<Worker> => {
    const until = clock.monotonic() + wait_ms;
    for (;;) {
      const { id, runtime } = (await poller.call('fiber', { id: fiber_id })).fiber;
      const address = addressOf(host, runtime);
      if (runtime === undefined || address !== null) return { id, address, run_id: runtime?.run_id ?? null };
      // A start would end the worker that is starting.
      if (clock.monotonic() >= until)
        throw new CodedError(
          'deadline_exceeded',
          `the worker of ${id} is starting, and has no session to write to yet; it was given nothing, so send the text again in a moment`,
        );
      await sleep(clock, LOOK_MS);
    }
  };
  /** Starts a worker; where one runs, or another request has started it meanwhile, the text is a message to it. */
  const startOrTell = async (asked: StartRequest, said: Said): Promise<Started> => {
    let { ends_only } = asked;
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const outcome = await poller.call('dispatch', { ...asked, ends_only });
      if (!('already_running' in outcome) || !outcome.already_running) return outcome;
      const address = addressOf(host, outcome) ?? (await sessionOf(outcome.fiber_id)).address;
      if (address === null) continue;
      const receipt = await send(address, { ...said, text: sendable(said.text, outcome.fiber_id) });
      if ('dry_run' in receipt) return receipt;
      if (!foundNobody(receipt)) return { ...outcome, receipt };
      // That run alone is over: one that somebody else starts meanwhile is not ended for this text.
      ends_only = outcome.run_id;
    }
    throw new CodedError(
      'conflict',
      `each worker of ${asked.fiber_id} ended before it was given the text; send it again`,
    );
  };
  const receiptsOf = async (ids: readonly string[]): Promise<Receipt[]> =>
    (await messages.call('texts', { ids: [...ids] })).messages.map(({ receipt }) => receipt);
  const send = async (address: string, { text, from, ids }: Said, dry_run = false) => {
    const message_id = await ids.next(receiptsOf);
    return messages.call('send', { ...{ address, text, from, message_id, dry_run }, wake: true });
  };
  /** What became of a text as a message, whichever session it was tried with; null where none may have it. */
  const keptReceipt = async (message_id: string): Promise<Receipt | null> =>
    (await receiptsOf(idsOf(message_id))).find((receipt) => !foundNobody(receipt)) ?? null;
  const give = async (
    { text, from = SOMEBODY, message_id, dry_run = false }: DeliverRequest,
    { id, address, run_id }: Worker,
    { as_message, is_repeat = false }: { as_message?: string; is_repeat?: boolean } = {},
  ): Promise<DeliveryAnswer> => {
    const first = is_repeat ? undefined : (as_message ?? message_id);
    const said = { text, from, ids: new MessageIds(message_id, first) };
    if (address !== null) {
      const receipt = await send(address, said, dry_run);
      if ('dry_run' in receipt) return { status: 200, json: receipt };
      if (!foundNobody(receipt)) return asMessage(receipt);
    }
    const nonce = newNonce();
    const user_message = from === SOMEBODY ? text : firstTextForAgent({ nonce, from, text });
    const outcome = await startOrTell(
      {
        ...{ fiber_id: id, force: true, user_message, dry_run, resume_mode: 'continue' },
        ...{ ends_only: address === null ? null : run_id, message_id, is_repeat },
      },
      said,
    );
    if ('reason' in outcome) return { status: refusalStatus(outcome.reason), json: refused(outcome) };
    if (!('dispatched' in outcome))
      return {
        status: 200,
        json: from === SOMEBODY ? outcome : { ...outcome, minted: { ...outcome.minted, nonce } },
      };
    if (outcome.receipt !== undefined) return asMessage(outcome.receipt);
    const delivery = outcome.resumed === true ? 'resume' : 'dispatch';
    return { status: 200, json: { ...outcome, delivered: true, delivery } };
  };
  return {
    sessionOf,
    async dispatch(request, again = {}) {
      const text = request.user_message ?? '';
      const asked = { ...request, ...again };
      if (request.dry_run === true || text.trim() === '') return poller.call('dispatch', asked);
      const { message_id, is_repeat } = again;
      const kept = is_repeat === true && message_id !== undefined ? await keptReceipt(message_id) : null;
      if (kept !== null) throw new CodedError('outcome_unknown', `${toldNote(kept)}; see: svc status`);
      const ids = new MessageIds(message_id, is_repeat === true ? undefined : message_id);
      const outcome = await startOrTell(asked, { text, from: SOMEBODY, ids });
      if (!('receipt' in outcome) || outcome.receipt === undefined) return outcome;
      return { ...outcome, notes: [...(outcome.notes ?? []), toldNote(outcome.receipt)] };
    },
    async deliver(request) {
      const { message_id, dry_run, fiber_id } = request;
      // One with an id is the same start when it is repeated, whatever its worker was the first time.
      const by_id = message_id !== undefined && dry_run !== true;
      return give(request, by_id ? { id: fiber_id, address: null, run_id: null } : await sessionOf(fiber_id));
    },
    async deliverAgain(request, first) {
      const { fiber_id: id, message_id = '' } = request;
      const receipt = first === null ? await keptReceipt(message_id) : receiptOf(first);
      if (receipt === null)
        return first ?? give(request, { id, address: null, run_id: null }, { is_repeat: true });
      const { address } = receipt;
      return give(request, { id, address, run_id: null }, { as_message: receipt.message_id });
    },
  };
}

/** Sessions that a text under one id may be tried with, with all its repeats. */
const SESSIONS_OF_ONE = 12;

/** The ids of a text as messages. A message is for one session, so that each is another one; a repeat finds them again. */
function idsOf(message_id: string): string[] {
  const rest = sha256Of(message_id).slice(0, 40);
  return [message_id, ...Array.from({ length: SESSIONS_OF_ONE - 1 }, (_, nth) => `${rest}-${nth + 2}`)];
}

/** The ids that a text still has for sessions; without an id of its own, each is a new one. */
class MessageIds {
  readonly #all: string[];
  #first: string | undefined;

  constructor(message_id: string | undefined, first: string | undefined) {
    this.#all = message_id === undefined ? [] : idsOf(message_id).filter((id) => id !== first);
    this.#first = first;
  }

  /** The next one, under which nothing was sent to any session. */
  async next(receiptsOf: (ids: readonly string[]) => Promise<Receipt[]>): Promise<string> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    if (this.#all.length === 0) return randomUUID();
    const used = new Set((await receiptsOf(this.#all)).map(({ message_id }) => message_id));
    while (this.#all.length > 0) {
      const id = this.#all.shift()!;
      if (!used.has(id)) return id;
    }
    return randomUUID();
  }
}

/** Of one that became a message to a session. */
function receiptOf(answer: Reply): Receipt | null {
  const { delivery, receipt } = ('json' in answer ? answer.json : {}) as {
    delivery?: string;
    receipt?: Receipt;
  };
  return delivery === 'message' && receipt !== undefined ? receipt : null;
}

/** A prompt may have what a terminal would take as a key. */
function sendable(text: string, fiber_id: string): string {
  const checked = messageRequestSchema.shape.text.safeParse(text);
  if (checked.success) return checked.data;
  throw new CodedError(
    'invalid_request',
    `a worker of ${fiber_id} runs already, and the message cannot be sent to it: it ${checked.error.issues[0]?.message}; it was given nothing`,
  );
}

/** Nothing was given to anybody, and nobody is in the session any more. */
function foundNobody({ reason }: Receipt): boolean {
  return reason === 'session_unavailable';
}

function asMessage(receipt: Receipt): DeliveryAnswer {
  const delivered = receipt.status !== 'rejected';
  return { status: 200, json: { delivered, delivery: 'message', receipt } };
}

/** What became of the text of a dispatch that started no worker. */
function toldNote({ status, transport, detail }: Receipt): string {
  if (status === 'rejected') return `the worker that runs already was not told the message: ${detail}`;
  if (transport === 'held') return `the message waits for the worker that runs already: ${detail}`;
  return `the message was sent to the worker that runs already: ${detail}`;
}

/** Only a start that goes on with the previous conversation is refused because that one is open elsewhere (RES-9). */
function refused(outcome: Refused): RefusedDelivery {
  const delivery = outcome.reason === 'session_open_in_resume' ? 'resume' : 'dispatch';
  return { ...outcome, delivered: false, delivery };
}

function addressOf(
  host: string,
  runtime: Pick<RunView, 'harness' | 'session_uuid'> | undefined,
): string | null {
  const harness = harnessNameSchema.safeParse(runtime?.harness ?? '');
  if (runtime === undefined || runtime.session_uuid === null || !harness.success) return null;
  return printAddress({ host, harness: harness.data, native_id: runtime.session_uuid });
}
