import { type Clock, within } from '../../base/clock.ts';
import type { StoreHealth } from '../../contract/http/state.ts';
import type { PolledStore } from './polled-store.ts';

/**
 * How long a round waits for listings before what is known is served, in milliseconds. One that knows nothing yet, and one
 * that lists every store wait as long as a job of a listing may take.
 */
const LISTING_WAIT_MS = 1_000;

export type StoreListingsOptions = {
  /** The stores to poll, as the list is now. */
  roots(): readonly string[];
  open(root: string): PolledStore;
  /** Which stores there are was changed. */
  onRoots(roots: readonly string[]): void;
  /** A store was listed; `first`: for the first time. */
  onListed(root: string, first: boolean): Promise<void>;
  /** A listing ended after the round that began it: the next round serves it. */
  onLate(): void;
  onError(error: unknown): void;
  listing_timeout_ms: number;
  clock: Clock;
};

/** The stores that are polled, and their listings: one that is slow to list keeps no other waiting. */
export class StoreListings {
  readonly #options: StoreListingsOptions;
  #stores: readonly PolledStore[] = [];
  readonly #under_way = new Map<PolledStore, Promise<void>>();
  /** Stores whose listing ended after its round: the next one serves them and does not list them again. */
  readonly #late = new Set<PolledStore>();

  constructor(options: StoreListingsOptions) {
    this.#options = options;
  }

  get stores(): readonly PolledStore[] {
    return this.#stores;
  }

  get healths(): StoreHealth[] {
    return this.#stores.map((store) => store.health);
  }

  /** Whether the stores that are polled are those of the list as it is now. */
  get followsAll(): boolean {
    const roots = this.#options.roots();
    return (
      roots.length === this.#stores.length && this.#stores.every((store, at) => store.root === roots[at])
    );
  }

  /** Stores that came are polled from now on; of those that went nothing is known any more. */
  followRoots(): void {
    if (this.followsAll) return;
    const { roots: rootsNow, open, onRoots } = this.#options;
    const roots = rootsNow();
    const before = this.#stores;
    this.#stores = roots.map((root) => before.find((store) => store.root === root) ?? open(root));
    onRoots(roots);
    for (const store of before) {
      if (roots.includes(store.root)) continue;
      store.close();
      this.#under_way.delete(store);
      this.#late.delete(store);
    }
  }

  /** One round over all stores, which with `patient` waits longer for them. */
  async list({ whole, patient }: { whole: boolean; patient: boolean }): Promise<void> {
    for (const store of this.#stores) {
      const served = this.#late.delete(store) && !whole;
      if (!served && !this.#under_way.has(store)) this.#under_way.set(store, this.#list(store, whole));
    }
    const { clock, listing_timeout_ms } = this.#options;
    const wait = whole || patient ? listing_timeout_ms : LISTING_WAIT_MS;
    await within(clock, wait, Promise.all(this.#under_way.values()));
    for (const store of this.#under_way.keys()) this.#late.add(store);
  }

  /** Lists one store now, and answers its health; null for one that is not polled. */
  async listNow(root: string): Promise<StoreHealth | null> {
    const store = this.#stores.find((one) => one.root === root);
    if (store === undefined) return null;
    store.tryAgain();
    if (!this.#under_way.has(store)) this.#under_way.set(store, this.#list(store, true));
    await this.#under_way.get(store);
    return store.health;
  }

  close(): void {
    for (const store of this.#stores) store.close();
  }

  async #list(store: PolledStore, whole: boolean): Promise<void> {
    const { onListed, onLate, onError } = this.#options;
    try {
      const first = store.health.last_ok_at === null;
      if (await store.tick({ whole })) await onListed(store.root, first);
    } catch (error) {
      onError(error);
    } finally {
      this.#under_way.delete(store);
      if (this.#late.has(store)) onLate();
    }
  }
}
