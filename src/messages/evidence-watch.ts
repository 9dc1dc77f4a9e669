import { sleep, within } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Receipt } from '../contract/http/messages.ts';
import { parseAddress, type SessionAddress } from '../contract/session-address.ts';
import type { AppMessageStage } from '../contract/threads/app-message.ts';
import type { ContextDelivery } from './context-delivery.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import type { MessageChanges } from './message-changes.ts';
import { idInConversation, type MessageRecord } from './message-record.ts';

const LOOK_MS = 100;
/** For how long the conversation is looked at for a message when somebody reads what became of it. */
const LOOKED_AFTER_MS = 10 * 60_000;
/** Nothing more can be learned after these. */
const AT_END: ReadonlySet<Receipt['status']> = new Set(['rejected', 'accepted', 'context_added']);

/** Looks for what a conversation proves of a message that was given to it. */
export class EvidenceWatch {
  readonly #world: DeliveryWorld;
  readonly #changes: MessageChanges;
  readonly #context: ContextDelivery;
  #stopped = false;

  constructor(world: DeliveryWorld, changes: MessageChanges, context: ContextDelivery) {
    this.#world = world;
    this.#changes = changes;
    this.#context = context;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Looks for more evidence than the receipt has until there is some, or until `until` by the monotonic clock. */
  async observe(record: MessageRecord, address: SessionAddress, until: number): Promise<MessageRecord> {
    const { status } = record.receipt;
    if (record.evidence === null || AT_END.has(status)) return record;
    const { clock } = this.#world;
    for (;;) {
      const looked = await this.look(record, address);
      if (looked !== record || clock.monotonic() >= until || this.#stopped) return looked;
      await sleep(clock, LOOK_MS);
    }
  }

  /** The record with what its session proves now. */
  async look(record: MessageRecord, address: SessionAddress): Promise<MessageRecord> {
    const { evidence } = record;
    if (evidence === null) return record;
    if ('conversation' in evidence)
      return this.#changes.seen(record, await this.#stageIn(evidence.conversation, idInConversation(record)));
    const { offset } = evidence;
    // One that was not there before may be there now.
    const transcript = evidence.transcript ?? (await this.#transcriptOf(record, address));
    if (transcript === null) return record;
    const found = await this.#world.evidence(address, { transcript, offset }, record);
    return this.#changes.seen(record, found, { ...evidence, transcript });
  }

  /**
   * Looks once whether more is known by now of messages that were given to a session a short time ago. Ends after
   * `most_ms` at the latest; what is found later counts all the same.
   */
  async lookAgain(ids: readonly string[], most_ms: number): Promise<void> {
    const { store, clock, logger } = this.#world;
    const looks = ids.map(async (id) => {
      try {
        const record = store.read(id);
        if (record === null || record.state !== 'sent' || AT_END.has(record.receipt.status)) return;
        if (clock.now() - record.created_at > LOOKED_AFTER_MS) return;
        await this.look(record, parseAddress(record.address));
      } catch (error) {
        logger.debug({ message: id, detail: messageOf(error) }, 'no look at a message');
      }
    });
    await within(clock, most_ms, Promise.all(looks));
  }

  async #stageIn(thread_id: string, message_id: string): Promise<AppMessageStage> {
    try {
      return await this.#world.stageIn({ thread_id, message_id });
    } catch (error) {
      this.#world.logger.debug({ detail: messageOf(error) }, 'the app server does not answer');
      return null;
    }
  }

  async #transcriptOf({ wake }: MessageRecord, address: SessionAddress): Promise<string | null> {
    if (!wake) return this.#context.transcriptOf(address);
    const target = await this.#world.target(address).catch(() => null);
    return target?.kind === 'running' ? target.transcript : null;
  }
}
