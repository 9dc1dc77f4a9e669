import { isDeepStrictEqual } from 'node:util';
import type { FiberDocument, FiberRow } from '../contract/fiber.ts';
import type { FeedState } from '../contract/http/fibers.ts';
import type { StoreHealth } from '../contract/http/state.ts';
import type { StoreIndex } from '../fibers/store-index.ts';
import { type EligibilityFacts, isPendingStart, judgeEligibility } from './due/eligibility.ts';
import { dueOf, eligibilityFacts, placesOf } from './due/fiber-facts.ts';
import { hasPlace } from './due/places.ts';
import type { Due } from './due/standing.ts';
import type { Feed, RowFacts } from './feed.ts';
import type { Memory } from './holds/memory.ts';
import { viewNotOurs } from './holds/not-ours.ts';
import { recordChange } from './run/document-changes.ts';
import { needsLookAt, restsAt } from './run/run-phase.ts';
import { followDocuments, viewRun } from './run/runs.ts';
import { sharing, workersByTree } from './run/work-trees.ts';
import { keyOf } from './world/documents.ts';
import type { World } from './world/world.ts';

/**
 * Keeps the feed's rows in step with the documents and the runtime maps, and tells when the feed moved.
 * Rows of documents without a `svc` block only move with their document.
 */
export class Rows {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #index: StoreIndex;
  readonly #feed: Feed;
  readonly #onFeedMoved: () => void;
  /** When time alone moves a row, by path; rows that it does not move are not in here. */
  readonly #due = new Map<string, number>();
  /** When rows were last brought up to date, in milliseconds. */
  #refreshed_at = 0;
  /** False until it was looked once which workers run: before that no row shows its worker. */
  #looked = false;
  /** The workers in each work tree, as rows show them. */
  #trees = new Map<string, string[]>();
  /** What was told of all fibers when their rows were last brought up to date. */
  #shared = '';

  constructor(options: {
    world: World;
    memory: Memory;
    index: StoreIndex;
    feed: Feed;
    onFeedMoved: () => void;
  }) {
    this.#world = options.world;
    this.#memory = options.memory;
    this.#index = options.index;
    this.#feed = options.feed;
    this.#onFeedMoved = options.onFeedMoved;
  }

  /** It was looked which workers run, whatever came of it; from the first time on the feed is shown as what it is. */
  lookedAtWorkers(stores: readonly StoreHealth[]): void {
    if (this.#looked) return;
    this.#looked = true;
    this.refreshAll(stores);
  }

  /**
   * The documents of these paths appeared, changed or went away; `written_by` is who asked this daemon for the write, null
   * where it made none.
   */
  documentsMoved(paths: readonly string[], written_by: string | null = null): void {
    // The row of a new place may be of the time when the old one was there too, and without the worker.
    const followed = this.#follow();
    const now = this.#world.clock.now();
    let moved = false;
    for (const path of new Set([...paths, ...followed, ...this.#index.takeTwinned()])) {
      const document = this.#index.getPath(path);
      moved =
        (document === undefined ? this.#feed.delete(path, now) : this.#set(document, now, written_by)) ||
        moved;
    }
    if (moved) this.#onFeedMoved();
  }

  /** The runtime of these fibers may have moved, and what is shown of those that share a work tree with them. */
  runtimeMoved(keys: Iterable<string>): void {
    let moved = false;
    const now = this.#world.clock.now();
    for (const key of new Set([...keys, ...this.#newSharers()])) {
      for (const document of this.#index.keyed(key)) moved = this.#set(document, now) || moved;
    }
    if (moved) this.#onFeedMoved();
  }

  /** The workers in a work tree whose workers are others than when this was asked last. */
  #newSharers(): string[] {
    const before = this.#trees;
    this.#trees = workersByTree(this.#memory.runs.all());
    return [...this.#trees].flatMap(([tree, keys]) =>
      isDeepStrictEqual(keys, before.get(tree)) ? [] : keys,
    );
  }

  /** Brings up to date what moved although nobody told of it: rows that wait for a time, or all where a reason is shared. */
  refreshStale(stores: readonly StoreHealth[]): void {
    const now = this.#world.clock.now();
    // A clock that was turned back has moved every time.
    if (now < this.#refreshed_at || this.#sharedBy(stores) !== this.#shared) {
      this.refreshAll(stores);
      return;
    }
    this.#refreshed_at = now;
    const stale = [...this.#due].flatMap(([path, at]) => (at <= now ? [path] : []));
    if (stale.length > 0) this.documentsMoved(stale);
  }

  /** Brings every row and the feed's state up to date: after a sweep, and once a tick. */
  refreshAll(stores: readonly StoreHealth[]): void {
    this.#follow();
    const now = this.#world.clock.now();
    let moved = this.#feed.setState(this.#looked ? feedState(stores) : 'cold', now);
    this.#refreshed_at = now;
    this.#shared = this.#sharedBy(stores);
    for (const document of this.#index.rows()) moved = this.#set(document, now) || moved;
    // Every document has its row by now, so that more rows than documents are rows of what is gone.
    if (this.#feed.size > this.#index.size) {
      for (const path of this.#feed.paths()) {
        if (this.#index.getPath(path) === undefined) moved = this.#feed.delete(path, now) || moved;
      }
    }
    if (moved) this.#onFeedMoved();
  }

  #set(document: FiberDocument, now: number, written_by: string | null = null): boolean {
    const before = this.#feed.document(document.path);
    if (before !== undefined && before !== document) {
      const run = this.#memory.runs.get(keyOf(document));
      recordChange(this.#world, { before, after: document, run, written_by });
    }
    const facts = this.#factsOf(document);
    const at = facts === null ? null : this.#changesAt(document, facts);
    if (at === null) this.#due.delete(document.path);
    else this.#due.set(document.path, at);
    return this.#feed.set(document, this.#shown(document, facts), now);
  }

  #shown(document: FiberDocument, facts: EligibilityFacts | null): RowFacts {
    if (facts === null) return NO_FACTS;
    return rowFacts(this.#world, this.#memory, document, dueOf(this.#world, document), facts);
  }

  /** The next moment at which time alone changes the row; null for none. */
  #changesAt(document: FiberDocument, facts: EligibilityFacts): number | null {
    const run = this.#memory.runs.get(keyOf(document));
    const times = [
      ...[facts.paused_until, facts.limited_until, facts.cooldown_until, facts.elsewhere?.until],
      facts.due?.kind === 'later' ? facts.due.next : null,
      ...(run === undefined ? [] : [restsAt(run), needsLookAt(run)]),
    ];
    const later = times.filter((at): at is number => at != null && at > facts.now);
    return later.length === 0 ? null : Math.min(...later);
  }

  /** The reasons that keep every fiber back alike, and how complete the feed is. */
  #sharedBy(stores: readonly StoreHealth[]): string {
    const { brake, data_dir, mux_answers, starts, leases } = this.#memory;
    const is_full = !hasPlace(placesOf(this.#memory, this.#world.clock.now()));
    const leased = stores.map(({ store }) => leases.of(store).state);
    return JSON.stringify([
      ...[brake.pulled !== null, data_dir.fault !== null, mux_answers, is_full],
      ...[starts.hold() !== null, leased, feedState(stores)],
    ]);
  }

  /**
   * What is remembered of a fiber says where its document lies now, from the moment that its row does. Answers the paths that
   * were learned.
   */
  #follow(): string[] {
    const { documents } = this.#world;
    const followed = followDocuments(this.#world, this.#memory.runs);
    this.#memory.incidents.follow((uid) => documents.byUid(uid));
    return followed;
  }

  /** One row as the feed has it, with its body. */
  row(document: FiberDocument, body: string): FiberRow {
    const twins = this.#index.getPath(document.path)?.twins;
    const named = twins === undefined ? document : { ...document, twins };
    return { ...named, ...this.#shown(named, this.#factsOf(named)), body };
  }

  /** Null where no worker here and no clock can move the row. */
  #factsOf(document: FiberDocument): EligibilityFacts | null {
    return this.#isElsewhere(document) ? null : eligibilityFacts(this.#world, this.#memory, document);
  }

  /** True for the many rows that no worker here and no clock can move, only their document. */
  #isElsewhere(document: FiberDocument): boolean {
    const { svc } = document;
    if (svc !== undefined && (svc.host === this.#world.host || svc.kind === 'standing')) return false;
    const key = keyOf(document);
    if (this.#memory.runs.get(key) !== undefined) return false;
    return svc === undefined || this.#memory.refusals.get(key) === undefined;
  }
}

const NO_FACTS: RowFacts = {};

/** How complete the feed is: never a partial board shown as a whole one. */
function feedState(stores: readonly StoreHealth[]): FeedState {
  if (stores.length > 0 && stores.every((store) => store.state === 'cold')) return 'cold';
  return stores.every((store) => store.state === 'ok' && store.error === null) ? 'fresh' : 'partial';
}

/** What the row of one fiber shows beside its document; `held` only where the hold is what keeps it back. */
function rowFacts(
  world: Pick<World, 'clock' | 'host' | 'settings'>,
  memory: Pick<Memory, 'adopted' | 'deaths' | 'not_ours' | 'quarantine' | 'refusals' | 'runs'>,
  document: FiberDocument,
  due: Due | null,
  facts: EligibilityFacts,
): RowFacts {
  const key = keyOf(document);
  const run = memory.runs.get(key);
  const blocked = memory.refusals.get(key);
  const not_ours = viewNotOurs(world, memory, document);
  const last_death = memory.deaths.of(document, world.host, memory.runs);
  const held = memory.adopted && isPendingStart(document, facts) ? facts.held : null;
  const note = held === null ? null : (memory.quarantine.namedHoldOf(key)?.note ?? null);
  const verdict = document.status === 'active' && !facts.occupied ? judgeEligibility(document, facts) : null;
  return {
    ...(run === undefined
      ? {}
      : { runtime: viewRun(run, world.clock.now()), ...sharing(run, memory.runs.all()) }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(last_death === undefined ? {} : { last_death }),
    ...(not_ours === undefined ? {} : { not_ours }),
    ...(held === null ? {} : { held }),
    ...(note === null ? {} : { held_note: note }),
    ...(verdict === null || verdict.eligible || document.svc?.host !== world.host
      ? {}
      : { gate: verdict.gate }),
    ...(due === null || due.kind === 'never'
      ? {}
      : { next_due_at: due.kind === 'due' ? due.occurrence : due.next }),
  };
}
