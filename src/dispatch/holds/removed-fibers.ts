import type { FiberDocument } from '../../contract/fiber.ts';
import type { StoreIndex, SweepTicket } from '../../fibers/store-index.ts';
import type { Memory } from './memory.ts';

/** A polled store; `listed`: when its last listing began, null while not everything in it is read. */
type StoreListing = { root: string; listed: SweepTicket | null };

/**
 * Lifts the holds of fibers that were removed, and marks their ended runs: no document is left to conclude them in. A
 * listing can miss a fiber that moves meanwhile, so it counts as removed only when every store was listed completely once
 * more after it was first missed.
 */
export class RemovedFibers {
  readonly #memory: Pick<Memory, 'quarantine' | 'runs' | 'unconcluded'>;
  /** Held fibers and those of ended runs that no store shows, and when that was first so. */
  #missed = new Map<string, SweepTicket>();

  constructor(memory: Pick<Memory, 'quarantine' | 'runs' | 'unconcluded'>) {
    this.#memory = memory;
  }

  /** Call after each round of listings, with all stores of the list. */
  look(index: Pick<StoreIndex, 'rows' | 'count' | 'moment'>, stores: readonly StoreListing[]): void {
    const { quarantine, runs, unconcluded } = this.#memory;
    if (quarantine.named.size === 0 && unconcluded.size === 0) return;
    const { places, all_read } = placesOf(index.rows());
    const missed = new Map<string, SweepTicket>();
    const isRemoved = (key: string, root: string | null): boolean => {
      const since = this.#missed.get(key) ?? index.moment;
      missed.set(key, since);
      const listed = stores.every((store) => store.listed !== null && store.listed > since);
      if (!listed || !all_read || runs.get(key) !== undefined) return false;
      // The folder of a disk that is not mounted is empty, and so is a store that is no longer polled.
      return root !== null && stores.some((store) => store.root === root) && index.count(root) > 0;
    };
    for (const [key, hold] of [...quarantine.named]) {
      const place = places.get(foldedKey(key));
      if (place !== undefined) quarantine.place(key, place);
      else if (isRemoved(key, hold.store)) quarantine.forget(key);
    }
    for (const [key, run] of unconcluded)
      if (!places.has(foldedKey(key)) && isRemoved(key, run.store)) run.document_removed = true;
    this.#missed = missed;
  }
}

/**
 * The store of each fiber by its folded key and by its file; `all_read`: every document could be read, so none can
 * hide a fiber.
 */
function placesOf(rows: Iterable<FiberDocument>): { places: Map<string, string>; all_read: boolean } {
  const places = new Map<string, string>();
  let all_read = true;
  for (const row of rows) {
    places.set(foldedKey(row.uid ?? row.path), row.store);
    if (row.uid !== null) places.set(foldedKey(row.path), row.store);
    else if (row.error !== undefined) all_read = false;
  }
  return { places, all_read };
}

/** Two spellings of a uid are one; if two files differ only so, the worst case is one hold too many. */
function foldedKey(key: string): string {
  return key.toUpperCase();
}
