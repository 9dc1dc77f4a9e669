import { CodedError } from '../base/errors.ts';
import type { DeliverRequest } from '../contract/http/deliver.ts';
import type { Receipt } from '../contract/http/messages.ts';

/** What a delivery is answered with. */
export type DeliveryAnswer = { status: number; json: unknown };

/** The fiber of a delivery, and its worker: the address of its session and the run; null if it has none. */
export type Worker = { id: string; address: string | null; run_id: string | null };

type By = {
  worker(): Promise<Worker>;
  /** `message_id`: what it is called as a message. */
  deliver(worker: Worker, message_id: string): Promise<DeliveryAnswer>;
};

type Known = {
  content: string;
  worker: Promise<Worker>;
  /** Of the first one, until a repeat starts a worker. */
  reply: Promise<DeliveryAnswer>;
  /** The repeat in progress, which those that come meanwhile share. */
  repeat: Promise<DeliveryAnswer> | null;
};

/** The oldest is forgotten for a newer one. */
const MOST_KEPT = 1_000;

/**
 * The deliveries of this process by their ids. The same one again goes to the session that had it first, where it is
 * not given twice; one that started a worker is answered as it was then.
 */
export class Deliveries {
  readonly #known = new Map<string, Known>();

  /** Throws `message_id_conflict` for the id of a delivery of another text, or to another fiber. */
  async once(message_id: string, { fiber_id, text, from }: DeliverRequest, by: By): Promise<DeliveryAnswer> {
    const content = JSON.stringify([fiber_id, text, from ?? null]);
    const known = this.#known.get(message_id);
    if (known !== undefined && known.content !== content)
      throw new CodedError(
        'message_id_conflict',
        `the message id ${message_id} was used by another delivery; send this one with a new id`,
      );
    if (known === undefined) return this.#begin(message_id, content, by).reply;
    known.repeat ??= this.#repeat(known, by.deliver).finally(() => {
      known.repeat = null;
    });
    return known.repeat;
  }

  async #repeat(known: Known, deliver: By['deliver']): Promise<DeliveryAnswer> {
    const first = await known.reply;
    const receipt = receiptOf(first);
    if (receipt === null) return first;
    const { message_id, address } = receipt;
    const again = await deliver({ ...(await known.worker), address }, message_id);
    // What was refused has not been given to anybody.
    if (again.status === 200) known.reply = Promise.resolve(again);
    return again;
  }

  #begin(message_id: string, content: string, by: By): Known {
    const worker = by.worker();
    const begun: Known = {
      content,
      worker,
      reply: worker.then((one) => by.deliver(one, message_id)),
      repeat: null,
    };
    this.#known.set(message_id, begun);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_KEPT) break;
      this.#known.delete(oldest);
    }
    const forget = () => {
      if (this.#known.get(message_id) === begun) this.#known.delete(message_id);
    };
    // What was refused has not been given to anybody.
    begun.reply.then(({ status }) => {
      if (status !== 200) forget();
    }, forget);
    return begun;
  }
}

/** Of one that became a message to a session. */
function receiptOf({ json }: DeliveryAnswer): Receipt | null {
  const { delivery, receipt } = json as { delivery?: string; receipt?: Receipt };
  return delivery === 'message' && receipt !== undefined ? receipt : null;
}
