import type { Receipt } from '../contract/http/messages.ts';
import type { Session } from './delivery-plan.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import { type MessageRecord, receiptOf, saysMore } from './message-record.ts';

/** What a receipt says of each stage that was seen. */
export const SEEN: Readonly<Record<Receipt['status'], string>> = {
  queued: 'the session queued it behind its current turn',
  submitted: 'the conversation shows it as a turn of the user',
  accepted: 'the conversation shows an answer of the agent after it',
  context_added: 'the conversation shows it as context',
  unknown: 'it was given to the session, whose transcript does not show it yet',
  rejected: 'it was refused',
};

const GIVING = 'it is being given to the session';

/** The changes of a message's record; each is on the disk before it is answered. */
export class MessageChanges {
  readonly #world: Pick<DeliveryWorld, 'clock' | 'store' | 'files'>;

  constructor(world: Pick<DeliveryWorld, 'clock' | 'store' | 'files'>) {
    this.#world = world;
  }

  /** It is given from now on, so that it is never given again (P13). */
  sending(
    record: MessageRecord,
    { fiber_id, uid }: Session,
    evidence: NonNullable<MessageRecord['evidence']>,
  ): MessageRecord {
    const sending: MessageRecord = {
      ...record,
      state: 'sending',
      fiber: { id: fiber_id, uid },
      evidence,
      receipt: {
        ...record.receipt,
        status: 'unknown',
        transport: transportOf({ ...record, evidence }),
        detail: GIVING,
        at: this.#world.clock.now(),
      },
    };
    this.#world.store.write(sending);
    return sending;
  }

  /** It waits, for another reason than before. */
  waits(record: MessageRecord, detail: string): MessageRecord {
    const { store, clock } = this.#world;
    const held = { ...record, receipt: { ...record.receipt, detail, at: clock.now() } };
    store.write(held);
    return held;
  }

  rejected(record: MessageRecord, reason: string, detail: string): MessageRecord {
    const rejected = this.#finish(record, { status: 'rejected', transport: 'none', reason, detail });
    void this.#world.files.drop(record.files);
    return rejected;
  }

  /** It was given as far as its receipt says, and no further evidence is known. */
  given(record: MessageRecord, status: Receipt['status'], detail: string = SEEN[status]): MessageRecord {
    return this.#finish(record, { status, transport: transportOf(record), detail });
  }

  /** With what was found of it; a receipt never goes back. */
  seen(
    record: MessageRecord,
    found: Receipt['status'] | null,
    evidence: MessageRecord['evidence'] = record.evidence,
  ): MessageRecord {
    const { message_id, created_at, receipt } = record;
    if (found === null || !saysMore(found, receipt.status)) return record;
    // Another look may have found more meanwhile.
    const stored = this.#world.store.read(message_id);
    if (stored?.created_at === created_at && !saysMore(found, stored.receipt.status)) return stored;
    return this.given({ ...record, evidence }, found);
  }

  #finish(
    record: MessageRecord,
    receipt: Pick<Receipt, 'status' | 'transport' | 'detail' | 'reason'>,
  ): MessageRecord {
    const at = this.#world.clock.now();
    const done: MessageRecord = { ...record, state: 'sent', receipt: receiptOf(record, receipt, at) };
    this.#world.store.write(done);
    return done;
  }
}

function transportOf({ wake, evidence }: Pick<MessageRecord, 'wake' | 'evidence'>): Receipt['transport'] {
  if (!wake) return 'hook-mailbox';
  if (evidence === null) return 'terminal';
  return 'conversation' in evidence ? 'app-server' : (evidence.way ?? 'terminal');
}
