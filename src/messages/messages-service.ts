import { sleep } from '../base/clock.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import { SameRequests } from '../base/same-requests.ts';
import type { Receipt } from '../contract/http/messages.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { MessageLine } from '../contract/ledger.ts';
import { textForAgent } from '../contract/message-text.ts';
import { parseAddress, printAddress, type SessionAddress } from '../contract/session-address.ts';
import type { MessageTarget } from '../contract/threads/message-target.ts';
import type { CheckedMessage } from '../contract/threads/messages.ts';
import type { OpenWay } from '../harness/harness.ts';
import { ContextDelivery } from './context-delivery.ts';
import type { ContextStep } from './context-plan.ts';
import { type DeliveryStep, nextStep, type Session, waitedFor } from './delivery-plan.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import { EvidenceWatch } from './evidence-watch.ts';
import { type Handing, handingOf } from './handing.ts';
import { KeptDrafts, unseenIn } from './kept-drafts.ts';
import { MessageChanges, SEEN } from './message-changes.ts';
import { type Accepted, digestOf, type MessageRecord, newRecord } from './message-record.ts';
import { HOUR_MS, PairLimit } from './pair-limit.ts';
import { SessionQueues } from './session-queues.ts';

/** Limits; times in milliseconds. */
export type DeliveryLimits = {
  /** How long a request waits for evidence before it answers with what is known. */
  observe: number;
  /** How long a repeated request looks for more evidence (MDS-1). */
  recheck: number;
  /** How long a message waits for a session that is not ready. */
  hold: number;
  /** Most messages of one session to another in an hour. */
  pair: number;
};

/** A request that waits for another one of the same id waits this much longer than that one observes (MSG-3). */
const SAME_ID_MS = 1_500;
const LOOK_MS = 100;
const HELD_LOOK_MS = 1_000;
/** Between two looks at held messages of different sessions: each runs tmux, and hundreds of sessions may wait. */
const HELD_SPACING_MS = 50;

/**
 * Delivers messages to the sessions of this host: each exactly once or not at all. Its record is written before
 * anything is given to a session, and what may have been given is never given again.
 */
export class MessagesService {
  readonly #world: DeliveryWorld;
  readonly #limits: DeliveryLimits;
  /** Requests in progress by message id. */
  readonly #asked = new SameRequests<Receipt>();
  readonly #queues: SessionQueues;
  readonly #pairs: PairLimit;
  readonly #context: ContextDelivery;
  readonly #changes: MessageChanges;
  readonly #evidence: EvidenceWatch;
  readonly #drafts: KeptDrafts;
  /** What an earlier daemon wrote of its messages in the last hour. */
  readonly #recent: readonly MessageLine[];
  readonly #began: { now: number; monotonic: number };
  #stopped = false;

  constructor(world: DeliveryWorld, limits: DeliveryLimits) {
    this.#began = { now: world.clock.now(), monotonic: world.clock.monotonic() };
    this.#recent = world.ledger.since(world.clock.now() - HOUR_MS);
    this.#pairs = new PairLimit(limits.pair, this.#recent);
    this.#drafts = new KeptDrafts(world);
    this.#context = new ContextDelivery(world);
    this.#changes = new MessageChanges(world);
    this.#evidence = new EvidenceWatch(world, this.#changes, this.#context);
    this.#world = world;
    this.#limits = limits;
    this.#queues = new SessionQueues({
      clock: world.clock,
      attempt: (record) => this.#attemptOrKeep(record),
      // Somebody waits for the answer of a new one.
      pause: ({ created_at }, sessions) =>
        Math.abs(world.clock.now() - created_at) < limits.observe ? LOOK_MS : heldPause(sessions),
    });
  }

  /** Goes on with the messages that an earlier daemon left. */
  start(): void {
    const { store, logger } = this.#world;
    const waiting: MessageRecord[] = [];
    for (const id of store.unfinished()) {
      try {
        const record = store.read(id);
        if (record === null) store.release(id);
        else if (record.state === 'sent') store.write(record);
        else if (record.state === 'waiting') waiting.push(record);
        else if (record.state === 'sending') this.#settleUnsure(record);
      } catch (error) {
        logger.error(
          { message: id, detail: messageOf(error) },
          'a message cannot be read; it is left as it is',
        );
      }
    }
    this.#watchUnseen();
    waiting.sort((one, other) => one.created_at - other.created_at);
    for (const record of waiting) this.#queues.add(record);
  }

  #watchUnseen(): void {
    const { store, logger } = this.#world;
    for (const id of unseenIn(this.#recent)) {
      try {
        const record = store.read(id);
        if (record?.receipt.status === 'unknown') this.#drafts.watch(record);
      } catch (error) {
        logger.error({ message: id, detail: messageOf(error) }, 'a message cannot be read');
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#evidence.stop();
    this.#drafts.stop();
    this.#queues.stop();
  }

  /** `bytes` has the files of the message. */
  async send(
    { dry_run, ...request }: CheckedMessage,
    bytes: Uint8Array | null = null,
  ): Promise<Receipt | Rehearsal> {
    const address = parseAddress(request.address);
    const { host, clock } = this.#world;
    if (address.host !== host)
      throw new CodedError(
        'wrong_host',
        `${request.address} is on the host ${address.host}, which is no remote of this one, ${host}. Those that are: svc remotes list; another one: svc remotes add <user>@<host>`,
      );
    const message = { ...request, address: printAddress(address) };
    if (dry_run === true) return this.#rehearse(message, address);
    const { content, work, is_first } = this.#asked.join(message.message_id, digestOf(message), () =>
      this.#answer(message, address, bytes),
    );
    if (is_first) return work;
    requireSame(content, message, this.#world.store.read(message.message_id)?.receipt);
    const limit = this.#limits.observe + SAME_ID_MS;
    return Promise.race([work, sleep(clock, limit).then(() => this.#known(message))]);
  }

  /** What the message would do now. */
  async #rehearse(message: Accepted, address: SessionAddress): Promise<Rehearsal> {
    const known = this.#world.store.read(message.message_id);
    if (known !== null) {
      requireSame(known.request, message, known.receipt);
      return rehearsal(`answer with the receipt of ${message.message_id}; nothing is sent again`);
    }
    this.#pairs.check(message.from, message.address, this.#world.clock.now());
    const shown = await this.#withPlaces(message);
    const given = { prompt: textForAgent(shown), minted: { nonce: shown.nonce } };
    const { step, way } = message.wake
      ? await this.#plan(address, 0)
      : { step: await this.#context.plan(address, shown), way: null };
    way?.close();
    if (step.kind === 'put') return rehearsal('add it to the next turn of the session as context', given);
    if (step.kind === 'hand') return rehearsal(`give it to the program of ${address.native_id}`, given);
    if (step.kind === 'type') return rehearsal(`type it into ${step.terminal.name}`, given);
    if (step.kind === 'give') return rehearsal(`give it to the app conversation ${address.native_id}`, given);
    return rehearsal(`${step.kind === 'hold' ? 'hold' : 'refuse'} it: ${step.detail}`);
  }

  /** The message as the agent would read it, but for its nonce: nobody may know that before it is given. */
  async #withPlaces(message: Accepted) {
    const files = await this.#world.files.placesOf(message.message_id, message.files);
    return { ...message, nonce: this.#world.newNonce(), files };
  }

  /** The next step for a message to this address, and the way that it takes; the caller closes it. */
  async #plan(
    address: SessionAddress,
    waited_ms: number,
  ): Promise<{ step: DeliveryStep; way: OpenWay | null }> {
    const target = await this.#target(address);
    const terminal = target?.kind === 'running' ? target.mux : null;
    const way = terminal === null ? null : await this.#world.open(address, terminal);
    const screen = terminal === null || way !== null ? null : await this.#world.screen(address, terminal);
    const facts = { target, way: way?.transport ?? null, screen, waited_ms, most_ms: this.#limits.hold };
    return { step: nextStep(facts), way };
  }

  async #answer(message: Accepted, address: SessionAddress, bytes: Uint8Array | null): Promise<Receipt> {
    const { store, clock } = this.#world;
    const known = store.read(message.message_id);
    if (known !== null) {
      requireSame(known.request, message, known.receipt);
      return known.state === 'sent' ? this.#recheck(known, address) : known.receipt;
    }
    if (!message.wake) requireRoom(await this.#context.plan(address, await this.#withPlaces(message)));
    const record = await this.#beginCounted(message, bytes);
    const until = clock.monotonic() + this.#limits.observe;
    const { delivered, tried } = this.#queues.add(record);
    await Promise.race([delivered, Promise.all([tried, sleep(clock, this.#limits.observe)])]);
    const kept = store.read(record.message_id) ?? record;
    const left = kept.state === 'sending' ? await delivered : kept;
    // A turn that runs may go on for hours.
    if (left.state !== 'sent' || left.receipt.status === 'queued') return left.receipt;
    return (await this.#evidence.observe(left, address, until)).receipt;
  }

  /** Keeps the message, which counts between its two sessions from before its first wait on; not if it is not kept. */
  async #beginCounted(message: Accepted, bytes: Uint8Array | null): Promise<MessageRecord> {
    const { from, address } = message;
    const now = this.#world.clock.now();
    const hops = this.#pairs.take(from, address, now);
    try {
      return await this.#begin({ ...message, hops }, bytes);
    } catch (error) {
      this.#pairs.giveBack(from, address, now);
      throw error;
    }
  }

  /** Keeps the message and its files, or nothing of it. */
  async #begin(message: Accepted & { hops: number }, bytes: Uint8Array | null): Promise<MessageRecord> {
    const { store, files, clock } = this.#world;
    const kept = await files.keep(message.message_id, { files: message.files, bytes });
    const nonce = this.#world.newNonce();
    const record = { ...newRecord(message, { files: kept, nonce, now: clock.now() }), hops: message.hops };
    try {
      store.begin(record);
    } catch (error) {
      await files.drop(kept);
      throw error;
    }
    return record;
  }

  /** One attempt; the record that it leaves. */
  async #attempt(record: MessageRecord): Promise<MessageRecord> {
    const address = parseAddress(record.address);
    if (!record.wake) return this.#addContext(record, address);
    const { step, way } = await this.#plan(address, this.#waited(record));
    try {
      if (step.kind === 'reject') return this.#changes.rejected(record, step.reason, step.detail);
      if (step.kind === 'hold') return this.#stayWaiting(record, step.detail);
      const handing = await handingOf(this.#world, step, way, address, record);
      return await this.#give(record, address, step.session, handing);
    } finally {
      way?.close();
    }
  }

  /** Puts it into the mailbox of its session. What another daemon may have put there is looked for before. */
  async #addContext(record: MessageRecord, address: SessionAddress): Promise<MessageRecord> {
    const looked = await this.#evidence.look(record, address);
    if (looked !== record) return looked;
    const step = await this.#context.plan(address, record);
    if (step.kind === 'hold') return this.#stayWaiting(record, step.detail);
    if (step.kind === 'refuse') return this.#changes.rejected(record, 'wake_required', step.detail);
    if (step.kind === 'reject') return this.#changes.rejected(record, step.reason, step.detail);
    const { transcript, fiber_id: id, uid } = step.session;
    const evidence = record.evidence ?? { transcript, offset: await this.#world.sizeOf(transcript) };
    const placed = { ...record, fiber: { id, uid }, evidence };
    this.#world.store.write(placed);
    this.#context.put(placed, address);
    return this.#changes.given(placed, 'queued', IN_MAILBOX);
  }

  /** One attempt that may fail, on a full disk for example. What may have been given is at its end then (P13). */
  async #attemptOrKeep(record: MessageRecord): Promise<MessageRecord> {
    const { store, logger } = this.#world;
    try {
      return await this.#attempt(record);
    } catch (error) {
      logger.warn({ message: record.message_id, detail: messageOf(error) }, 'a message was not delivered');
      if (this.#stopped) return record;
      try {
        const kept = store.read(record.message_id) ?? record;
        return kept.state === 'sending' ? this.#settleUnsure(kept) : kept;
      } catch (error) {
        const { message_id } = record;
        logger.error(
          { message: message_id, detail: messageOf(error) },
          'what became of a message cannot be kept',
        );
        return { ...record, state: 'sent' };
      }
    }
  }

  async #give(
    record: MessageRecord,
    address: SessionAddress,
    session: Session,
    { evidence, hand }: Handing,
  ): Promise<MessageRecord> {
    const sending = this.#changes.sending(record, session, evidence);
    const handed = await hand();
    this.#logGiven(sending, address, handed.kind);
    switch (handed.kind) {
      case 'given':
        return this.#unsure(sending, 'conversation' in evidence ? UNSHOWN : SEEN.unknown);
      case 'queued':
        return this.#changes.given(sending, 'queued');
      case 'unknown':
        return this.#unsure(sending, `${UNSURE}: ${handed.detail}`);
      case 'not_given':
        return this.#changes.waits(record, handed.detail);
      case 'refused':
        return this.#changes.rejected(sending, 'wake_refused', `the app server refused it: ${handed.detail}`);
      case 'gone':
        return this.#changes.rejected(sending, 'session_unavailable', ENDED);
    }
  }

  #waited({ created_at }: MessageRecord): number {
    const { clock } = this.#world;
    const { now, monotonic } = this.#began;
    return waitedFor({
      age_ms: clock.now() - created_at,
      uptime_ms: clock.monotonic() - monotonic,
      is_of_earlier: created_at < now,
      most_ms: this.#limits.hold,
    });
  }

  #stayWaiting(record: MessageRecord, detail: string): MessageRecord {
    return detail === record.receipt.detail ? record : this.#changes.waits(record, detail);
  }

  /** It may have been given, and no evidence is known. */
  #unsure(record: MessageRecord, detail: string): MessageRecord {
    const unsure = this.#changes.given(record, 'unknown', detail);
    if (unsure.receipt.transport === 'terminal') this.#drafts.watch(unsure);
    return unsure;
  }

  #logGiven({ fiber, message_id }: MessageRecord, { native_id }: SessionAddress, outcome: string): void {
    this.#world.logger.info(
      { fiber: fiber?.id, session: native_id, message: message_id, outcome },
      'a message was given to a session',
    );
  }

  /** Looks again whether more is known by now of these messages, for `most_ms` at most. */
  lookAgain(ids: readonly string[], most_ms: number): Promise<void> {
    return this.#evidence.lookAgain(ids, most_ms);
  }

  /** A repeated request sends nothing; it looks whether more is known by now (MDS-1). */
  async #recheck(record: MessageRecord, address: SessionAddress): Promise<Receipt> {
    const until = this.#world.clock.monotonic() + this.#limits.recheck;
    return (await this.#evidence.observe(record, address, until)).receipt;
  }

  /** The daemon ended, or failed, between the first byte and the answer: it is never given again (P13). */
  #settleUnsure(record: MessageRecord): MessageRecord {
    return this.#unsure(record, CUT_OFF);
  }

  async #target(address: SessionAddress): Promise<MessageTarget | null> {
    try {
      return await this.#world.target(address);
    } catch (error) {
      this.#world.logger.debug({ detail: messageOf(error) }, 'the poller does not answer yet');
      return null;
    }
  }

  /** What is known of a message whose first request has not ended in time. */
  #known({ message_id, address }: Accepted): Receipt {
    const known = this.#world.store.read(message_id);
    if (known !== null) return known.receipt;
    const at = this.#world.clock.now();
    return { message_id, address, status: 'unknown', transport: 'held', detail: KEEPING, at };
  }
}

const KEEPING = 'its files are being written; send the same id again for its receipt';
const ENDED = 'its session ended before anything was given to it';
const UNSURE = 'it is not known whether the text arrived';
const UNSHOWN = 'the app server took it, and the conversation does not show it yet';
const IN_MAILBOX = 'it waits in the mailbox of the session; a hook adds it to the next turn as context';
const CUT_OFF =
  'the daemon ended while it was given to the session, so it may have arrived; it is not sent again';

function requireRoom(step: ContextStep): void {
  if (step.kind === 'refuse') throw new CodedError('preflight_failed', step.detail);
}

function requireSame(request: string, message: Accepted, receipt: Receipt | undefined): void {
  if (request === digestOf(message)) return;
  throw new CodedError(
    'message_id_conflict',
    `another message was sent under the id ${message.message_id}; give each message an id of its own`,
    { details: { receipt } },
  );
}

/** How long a held message waits for its next look while messages of so many sessions are held, in milliseconds. */
export function heldPause(sessions: number): number {
  return Math.max(HELD_LOOK_MS, sessions * HELD_SPACING_MS);
}
