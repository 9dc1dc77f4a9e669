import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { markerOf, textForAgent } from '../contract/message-text.ts';
import type { SessionAddress } from '../contract/session-address.ts';
import type { ContextTarget } from '../contract/threads/context-target.ts';
import type { ContextMailbox } from './context-mailbox.ts';
import { type ContextStep, nextContextStep } from './context-plan.ts';
import type { MessageRecord } from './message-record.ts';

export type ContextWorld = {
  logger: Logger;
  mailbox: ContextMailbox;
  /** The session of an address; throws while the poller does not answer. */
  contextTarget(address: SessionAddress): Promise<ContextTarget>;
};

type Said = Parameters<typeof textForAgent>[0];

/** Puts messages that start no turn into the mailboxes of their sessions, from which hooks take them. */
export class ContextDelivery {
  readonly #world: ContextWorld;

  constructor(world: ContextWorld) {
    this.#world = world;
  }

  /** The next step for a message. */
  async plan(address: SessionAddress, message: Said): Promise<ContextStep> {
    const target = await this.#target(address);
    const { message_id } = message;
    const full = this.#world.mailbox.full(address, { message_id, text: textForAgent(message) });
    return nextContextStep({ harness: address.harness, target, full });
  }

  /** Once for each message; durable when it returns. */
  put(record: MessageRecord, address: SessionAddress): void {
    const { message_id, created_at, evidence } = record;
    const place = evidence !== null && 'transcript' in evidence ? evidence : { transcript: null, offset: 0 };
    const marker = markerOf(record);
    this.#world.mailbox.put(address, {
      ...{ message_id, created_at, marker, text: textForAgent(record) },
      ...{ transcript: place.transcript, offset: place.offset },
    });
  }

  /** Path of the transcript of a session; null if it has none yet, or is not known. */
  async transcriptOf(address: SessionAddress): Promise<string | null> {
    const target = await this.#target(address);
    return target?.kind === 'found' ? target.transcript : null;
  }

  async #target(address: SessionAddress): Promise<ContextTarget | null> {
    try {
      return await this.#world.contextTarget(address);
    } catch (error) {
      this.#world.logger.debug({ detail: messageOf(error) }, 'the poller does not answer yet');
      return null;
    }
  }
}
