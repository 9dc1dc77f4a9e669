import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../base/clock.ts';
import { isCoded } from '../../base/errors.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Gate } from '../../contract/gates.ts';
import { blockWhenPaused } from '../holds/breaker-book.ts';
import type { Memory } from '../holds/memory.ts';
import { owedStart } from '../holds/owed-starts.ts';
import type { HoldReason } from '../holds/quarantine.ts';
import { limitOf, showLimit, successorOf } from '../holds/usage-limits.ts';
import type { Authority } from '../run/run-id.ts';
import type { Starter } from '../start/starter.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { Arming } from './arming.ts';
import { ClosedConversations } from './closed-conversations.ts';
import {
  isArmedOn,
  isPendingStart,
  judgeEligibility,
  waitsForPlace,
  waitsForResources,
} from './eligibility.ts';
import { dueOf, eligibilityFacts, placesOf } from './fiber-facts.ts';
import { Turns } from './turns.ts';

/** Starts under way at the same time; a start costs tmux a few milliseconds. */
const STARTS_AT_ONCE = 4;
/** How often it is looked whether the machine has again what held starts back, in milliseconds. */
const LOOK_AGAIN_MS = 5_000;
/** How long a round waits for the disks of what it starts, in milliseconds; a fiber on a slower one follows by itself. */
const DISK_PATIENCE_MS = 100;

/** Gates that are shut for a fiber because of the very worker that is to be replaced. */
const OF_A_RUN: readonly Gate[] = ['running', 'due', 'max_concurrent'];
/** Gates that are shut for a fiber because it met a usage limit. */
const OF_A_LIMIT: readonly Gate[] = ['cooldown'];

type PollAuthority = Extract<Authority, { kind: 'poll' }>;
const BY_POLL = { kind: 'poll', occurrence: null } as const;

/** What the poller starts by itself (DSP-2): looks through the documents, starts what is due, notes what waits. */
export class PollRounds {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #starter: Starter;
  readonly #arming: Arming;
  readonly #closed: ClosedConversations;
  readonly #onMoved: (keys: Iterable<string>) => void;
  readonly #turns = new Turns();
  /** Paths of documents whose disk answered after their round. */
  #late = new Set<string>();
  #stopped = false;
  #lookAgain: (() => void) | null = null;

  constructor(
    world: World,
    memory: Memory,
    ports: { starter: Starter; onMoved: (keys: Iterable<string>) => void },
  ) {
    this.#world = world;
    this.#memory = memory;
    this.#starter = ports.starter;
    this.#arming = new Arming(world, memory);
    this.#closed = new ClosedConversations(world, memory);
    this.#onMoved = ports.onMoved;
  }

  /** One round over all documents: starts what is due, notes what waits. */
  async startDue(): Promise<void> {
    const { documents } = this.#world;
    const moved = this.#arming.note(documents);
    this.#closed.note(documents.all());
    const carried: FiberDocument[] = [];
    for (const document of documents.all()) {
      if (this.#forgetSilence(document)) moved.push(keyOf(document));
      if (document.svc === undefined) continue;
      this.#showPaused(document);
      if (this.#showLimit(document)) moved.push(keyOf(document));
      const { on_limit, after_limit } = document.svc;
      if (on_limit !== undefined || after_limit !== undefined) carried.push(document);
    }
    if (moved.length > 0) this.#onMoved(moved);
    await this.#startAmong(documents.all());
    for (const document of carried) await this.#carryOn(document);
    this.#noteHeldBack();
  }

  /** The same for documents that have just moved, between two rounds. */
  async startMoved(paths: ReadonlySet<string>): Promise<void> {
    const documents: FiberDocument[] = [];
    for (const document of this.#world.documents.all())
      if (paths.has(document.path)) documents.push(document);
    const disarmed = this.#arming.noteSome(documents);
    this.#closed.note(documents);
    if (disarmed.length > 0) this.#onMoved(disarmed);
    await this.#startAmong(documents);
  }

  /** Fibers that only a hold keeps from being started, oldest hold first. */
  pending(): { document: FiberDocument; since: number; reason: HoldReason; note: string | null }[] {
    if (!this.#memory.adopted) return [];
    const now = this.#world.clock.now();
    const waiting = [];
    for (const document of this.#world.documents.all()) {
      if (!isArmedOn(this.#world.host, document)) continue;
      const facts = eligibilityFacts(this.#world, this.#memory, document);
      if (!isPendingStart(document, facts) || facts.held === null) continue;
      const { breaker, quarantine } = this.#memory;
      const key = keyOf(document);
      const note = quarantine.namedHoldOf(key)?.note ?? null;
      const looped = facts.held === 'loop_breaker' ? breaker.heldSince(key) : null;
      waiting.push({ document, since: looped ?? quarantine.since(key, now), reason: facts.held, note });
    }
    return waiting.sort((a, b) => a.since - b.since);
  }

  /** Since when this fiber waits for a place among the workers; null when it does not. */
  waitsSince(key: string): number | null {
    return this.#turns.since(key);
  }

  /** Starts nothing more; those that are under way go on. */
  stop(): void {
    this.#stopped = true;
    this.#lookAgain?.();
  }

  /** Starts what is due; with a bound on the workers, whoever has waited longest goes first. */
  async #startAmong(moved: Iterable<FiberDocument>): Promise<void> {
    if (!this.#memory.mux_answers) return;
    const bounded = this.#memory.most_workers !== null;
    const documents: FiberDocument[] = [];
    // Who has just moved must not overtake who waits already.
    for (const document of bounded ? this.#world.documents.all() : moved)
      if (isArmedOn(this.#world.host, document)) documents.push(document);
    if (bounded) this.#noteTurns(documents);
    const tried = new Set<string>();
    for (;;) {
      const due = documents.filter((document) => !tried.has(document.path) && this.#isEligible(document));
      if (due.length === 0 || this.#stopped) return;
      const chosen = bounded ? this.#turns.inOrder(due).slice(0, this.#freePlaces()) : due;
      if (chosen.length === 0) return;
      for (const document of chosen) tried.add(document.path);
      const next = (await this.#onAnsweringDisks(chosen))[Symbol.iterator]();
      const lane = async () => {
        for (const document of next) {
          if (this.#stopped || this.#memory.starts.hold() !== null) return;
          await this.#startByPoll(document);
        }
      };
      await Promise.all(Array.from({ length: STARTS_AT_ONCE }, lane));
    }
  }

  #freePlaces(): number {
    const { count, resting, most } = placesOf(this.#memory, this.#world.clock.now());
    return Math.max(0, (most ?? Number.POSITIVE_INFINITY) - (count - resting));
  }

  /** Counts the fibers that the machine itself holds back, and goes on with them before the next tick. */
  #noteHeldBack(): void {
    const { starts } = this.#memory;
    const waiting = this.#memory.mux_answers && starts.hold() !== null ? this.#heldBack() : 0;
    if (waiting > 0 && starts.waiting === 0)
      this.#world.logger.warn(
        { waiting, hold: starts.hold() },
        'new workers wait for resources of the machine',
      );
    starts.waiting = waiting;
    if (waiting > 0) this.#goOnSoon();
  }

  #goOnSoon(): void {
    if (this.#lookAgain !== null || this.#stopped) return;
    this.#lookAgain = this.#world.clock.after(LOOK_AGAIN_MS, () => {
      this.#lookAgain = null;
      if (this.#stopped) return;
      // Nothing is looked through while nothing could be started.
      if (this.#memory.starts.hold() !== null) this.#goOnSoon();
      else
        this.#startAmong(this.#world.documents.all())
          .then(() => this.#noteHeldBack())
          .catch((error) => this.#world.logger.error({ err: error }, 'held starts could not be continued'));
    });
  }

  #heldBack(): number {
    let waiting = 0;
    for (const document of this.#world.documents.all())
      if (isArmedOn(this.#world.host, document))
        waiting += Number(waitsForResources(document, eligibilityFacts(this.#world, this.#memory, document)));
    return waiting;
  }

  /**
   * Those whose directory a start will not wait for: its disk answers, or is known to be silent. The others hold no
   * place and no lane meanwhile; each follows when its disk has answered or was given up.
   */
  async #onAnsweringDisks(chosen: readonly FiberDocument[]): Promise<FiberDocument[]> {
    const { clock, disks, logger } = this.#world;
    const asked = new Set<FiberDocument>();
    let waiting = true;
    const proofs = chosen.map(async (document) => {
      const { project_dir } = document;
      const proof =
        project_dir === undefined || !isAbsolute(project_dir) ? 'answers' : await disks.prove(project_dir);
      if (proof === 'unchecked') {
        logger.warn({ fiber: document.id, project_dir }, 'a folder was not checked yet; it is tried again');
        return;
      }
      if (waiting) asked.add(document);
      else this.#followLate(document.path);
    });
    await Promise.race([Promise.all(proofs), sleep(clock, DISK_PATIENCE_MS)]);
    waiting = false;
    return chosen.filter((document) => asked.has(document));
  }

  #followLate(path: string): void {
    const { clock, logger } = this.#world;
    this.#late.add(path);
    if (this.#late.size > 1) return;
    clock.after(0, () => {
      const late = this.#late;
      this.#late = new Set();
      if (this.#stopped) return;
      this.startMoved(late).catch((error) => logger.error({ err: error }, 'a poll step failed'));
    });
  }

  /** Lifts the refusal of a fiber whose disk answers again; true when there was one. */
  #forgetSilence(document: FiberDocument): boolean {
    const key = keyOf(document);
    if (this.#memory.refusals.get(key)?.reason !== 'project_dir_unreachable') return false;
    if (document.project_dir !== undefined && this.#world.disks.isSilent(document.project_dir)) return false;
    this.#memory.refusals.clear(key);
    return true;
  }

  #noteTurns(documents: readonly FiberDocument[]): void {
    const waiting = documents.filter((document) =>
      waitsForPlace(document, eligibilityFacts(this.#world, this.#memory, document)),
    );
    this.#turns.note(waiting, this.#world.clock.now());
  }

  #isEligible(document: FiberDocument): boolean {
    if (!isArmedOn(this.#world.host, document)) return false;
    return judgeEligibility(document, eligibilityFacts(this.#world, this.#memory, document)).eligible;
  }

  /** The row may be older than its file and than what happened since it was judged, so both are looked at again. */
  async #startByPoll(judged: FiberDocument): Promise<void> {
    const document = this.#rereadForStart(judged);
    if (document === undefined || !this.#isEligible(document)) return;
    const due = dueOf(this.#world, document);
    const owed = owedStart(this.#memory, document);
    const occurrence = owed === null && due?.kind === 'due' ? due.occurrence : null;
    await this.#starter.start(document, {
      kind: 'poll',
      occurrence,
      user_message: owed?.user_message ?? null,
    });
  }

  /** The document as it is on disk; undefined where it is gone, or its store does not answer, which the next listing says. */
  #rereadForStart(judged: FiberDocument): FiberDocument | undefined {
    try {
      return this.#world.documents.reread(judged);
    } catch (error) {
      if (isCoded(error, 'store_unavailable')) return undefined;
      throw error;
    }
  }

  /** Goes on with a fiber that a usage limit has stopped: with another agent, or once the limit is over. */
  async #carryOn(judged: FiberDocument): Promise<void> {
    const before = this.#afterLimit(judged);
    if (before === null) return;
    const document = this.#rereadForStart(judged);
    if (document === undefined || this.#stopped) return;
    const authority = this.#afterLimit(document);
    if (!isDeepStrictEqual(authority, before) || authority === null) return;
    const { id, svc } = document;
    this.#world.logger.info(
      { fiber: id, agent: authority.agent ?? svc?.agent },
      'goes on after a usage limit',
    );
    await this.#starter.start(document, authority);
  }

  /**
   * How a fiber goes on that a usage limit has stopped; null where its worker works all the same, where nothing says that it
   * goes on by itself, and where anything else keeps it back, first of all a person.
   */
  #afterLimit(document: FiberDocument): PollAuthority | null {
    const { svc } = document;
    const world = this.#world;
    const memory = this.#memory;
    const key = keyOf(document);
    if (memory.starting.has(key)) return null;
    const met = memory.refusals.get(key)?.reason === 'usage_limit';
    const runs = memory.runs.get(key) !== undefined;
    if (runs && !met) return null;
    const passed: Gate[] = ['usage_limit', ...(met ? OF_A_LIMIT : []), ...(runs ? OF_A_RUN : [])];
    if (!judgeEligibility(document, eligibilityFacts(world, memory, document), passed).eligible) return null;
    if (limitOf(world, memory, svc?.agent ?? null) === null)
      return runs && svc?.after_limit === 'go_on' ? { ...BY_POLL, resume_mode: 'previous' } : null;
    const agent = successorOf(world, memory, svc);
    return agent === null ? null : { ...BY_POLL, agent };
  }

  /** A fiber that was paused before this daemon started is shown as blocked all the same. */
  #showPaused(document: FiberDocument): void {
    const key = keyOf(document);
    if (document.svc?.host !== this.#world.host || this.#memory.refusals.get(key) !== undefined) return;
    if (this.#memory.runs.get(key) !== undefined || document.status !== 'active') return;
    blockWhenPaused(this.#world, this.#memory, key, document.id);
  }

  /** Fibers that a usage limit keeps back are shown as blocked; true when the row moved. */
  #showLimit(document: FiberDocument): boolean {
    if (document.svc?.host !== this.#world.host) return false;
    const shown = this.#memory.refusals.get(keyOf(document))?.reason === 'usage_limit';
    if (this.#memory.limits.isEmpty && !shown) return false;
    const verdict = judgeEligibility(document, eligibilityFacts(this.#world, this.#memory, document));
    return showLimit(
      this.#world,
      this.#memory,
      document,
      keyOf(document),
      verdict.eligible ? null : verdict.gate,
    );
  }
}
