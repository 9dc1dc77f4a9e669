import type { FiberDocument, FiberRow } from '../contract/fiber.ts';
import type { FeedState } from '../contract/http/fibers.ts';
import type { StoreHealth } from '../contract/http/state.ts';
import type { StoreIndex } from '../fibers/store-index.ts';
import { type EligibilityFacts, isPendingStart, judgeEligibility } from './due/eligibility.ts';
import { dueOf, eligibilityFacts } from './due/fiber-facts.ts';
import type { Due } from './due/standing.ts';
import type { Feed, RowFacts } from './feed.ts';
import type { Memory } from './holds/memory.ts';
import { followDocuments, viewRun } from './run/runs.ts';
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

  /** The documents of these paths appeared, changed or went away. */
  documentsMoved(paths: readonly string[]): void {
    this.#follow();
    const now = this.#world.clock.now();
    let moved = false;
    for (const path of paths) {
      const document = this.#index.getPath(path);
      moved =
        (document === undefined
          ? this.#feed.delete(path, now)
          : this.#feed.set(document, this.facts(document), now)) || moved;
    }
    if (moved) this.#onFeedMoved();
  }

  /** The runtime of these fibers may have moved. */
  runtimeMoved(keys: Iterable<string>): void {
    let moved = false;
    const now = this.#world.clock.now();
    for (const key of keys) {
      const document = this.#index.getUid(key) ?? this.#index.getPath(key);
      if (document !== undefined) moved = this.#feed.set(document, this.facts(document), now) || moved;
    }
    if (moved) this.#onFeedMoved();
  }

  /** Brings every row and the feed's state up to date: after a sweep, and once a tick for what time alone moves. */
  refreshAll(stores: readonly StoreHealth[]): void {
    this.#follow();
    const now = this.#world.clock.now();
    let moved = this.#feed.setState(feedState(stores), now);
    for (const document of this.#index.rows())
      moved = this.#feed.set(document, this.facts(document), now) || moved;
    // Every document has its row by now, so that more rows than documents are rows of what is gone.
    if (this.#feed.size > this.#index.size) {
      for (const path of this.#feed.paths()) {
        if (this.#index.getPath(path) === undefined) moved = this.#feed.delete(path, now) || moved;
      }
    }
    if (moved) this.#onFeedMoved();
  }

  /** What is remembered of a fiber says where its document lies now, from the moment that its row does. */
  #follow(): void {
    const { documents } = this.#world;
    followDocuments(this.#world, this.#memory.runs);
    this.#memory.incidents.follow((uid) => documents.byUid(uid));
  }

  /** One row as the feed has it, with its body. */
  row(document: FiberDocument, body: string): FiberRow {
    return { ...document, ...this.facts(document), body };
  }

  facts(document: FiberDocument): RowFacts {
    if (this.#isElsewhere(document)) return NO_FACTS;
    const due = dueOf(this.#world, document);
    const facts = eligibilityFacts(this.#world, this.#memory, document);
    return rowFacts(this.#world, this.#memory, document, due, facts);
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
export function feedState(stores: readonly StoreHealth[]): FeedState {
  if (stores.length > 0 && stores.every((store) => store.state === 'cold')) return 'cold';
  return stores.every((store) => store.state === 'ok' && store.error === null) ? 'fresh' : 'partial';
}

/** What the row of one fiber shows beside its document; `held` only where the hold is what keeps it back. */
function rowFacts(
  world: Pick<World, 'clock' | 'documents' | 'host'>,
  memory: Pick<Memory, 'deaths' | 'quarantine' | 'refusals' | 'runs'>,
  document: FiberDocument,
  due: Due | null,
  facts: EligibilityFacts,
): RowFacts {
  const key = keyOf(document);
  const run = memory.runs.get(key);
  // A copy of a document has its uid too, but the worker is not its worker.
  const own = run !== undefined && (run.path === document.path || !world.documents.isAmbiguous(document));
  const blocked = memory.refusals.get(key);
  const last_death = memory.deaths.of(document, world.host);
  const held = isPendingStart(document, facts) ? facts.held : null;
  const note = held === null ? null : (memory.quarantine.namedHoldOf(key)?.note ?? null);
  const verdict = document.status === 'active' && !facts.occupied ? judgeEligibility(document, facts) : null;
  return {
    ...(own ? { runtime: viewRun(run, world.clock.now()) } : {}),
    ...(blocked === undefined ? {} : { blocked }),
    ...(last_death === undefined ? {} : { last_death }),
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
