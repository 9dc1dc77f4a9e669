import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import type { SweepResult } from './sweep.ts';

/** Reads one document; null if it is gone. */
export type ReadRow = (path: string) => FiberDocument | null;
/** A position in the order of refreshes; taken before a sweep begins. */
export type SweepTicket = number;

/**
 * All documents of several stores in memory, for the poller. It reads no files itself; `refresh` and `apply` take a
 * reader. A row that was refreshed during a sweep is read again when the sweep is applied, since either reading may be
 * the older one.
 */
export class StoreIndex {
  #rows = new Map<string, FiberDocument>();
  #byId = new Map<string, Set<string>>();
  #byUid = new Map<string, Set<string>>();
  #byLeaf = new Map<string, Set<string>>();
  #refreshed = new Map<string, number>();
  #moment = 0;
  #generation = 0;

  /** A counter of row changes. */
  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Call before a sweep starts; pass the value to `apply` with the result. */
  beginSweep(): SweepTicket {
    this.#moment += 1;
    return this.#moment;
  }

  /** Applies a sweep of one store; returns true if any row changed. */
  apply(store: string, result: SweepResult, { since, read }: { since: SweepTicket; read: ReadRow }): boolean {
    let moved = false;
    const found = new Map<string, FiberDocument | null>(result.removed.map((path) => [path, null]));
    for (const row of result.changed) if (row.store === store) found.set(row.path, row);
    const refreshed = [...this.#refreshed].filter(([path]) => path.startsWith(`${store}/${FIBERS_FOLDER}/`));
    const fresher = new Set(refreshed.filter(([, moment]) => moment >= since).map(([path]) => path));
    for (const [path, row] of found) {
      if (fresher.has(path)) moved = this.#refreshSwept(path, row, read) || moved;
      else moved = (row === null ? this.#drop(path) : this.#put(row)) || moved;
    }
    for (const [path, moment] of refreshed) {
      if (moment >= since) continue;
      this.#refreshed.delete(path);
      if (!found.has(path)) moved = this.#lookAgain(path, read) || moved;
    }
    return moved;
  }

  /** Reads one document again; returns true if its row changed. */
  refresh(path: string, read: ReadRow): boolean {
    this.#refreshed.set(path, this.#moment);
    const row = read(path);
    return row === null ? this.#drop(path) : this.#put(row);
  }

  /** Removes every row of a store that is no longer configured. */
  removeStore(store: string): boolean {
    const paths = [...this.#rows.values()].filter((row) => row.store === store).map((row) => row.path);
    for (const path of paths) this.#drop(path);
    return paths.length > 0;
  }

  /** Every document, in any order. */
  rows(): IterableIterator<FiberDocument> {
    return this.#rows.values();
  }

  /** Number of documents in one store. */
  count(store: string): number {
    let count = 0;
    for (const row of this.#rows.values()) if (row.store === store) count += 1;
    return count;
  }

  /** The document with a uid; undefined if none or several have it. */
  getUid(uid: string): FiberDocument | undefined {
    const paths = this.#byUid.get(uid.toUpperCase());
    const [path] = paths?.size === 1 ? paths : [];
    return path === undefined ? undefined : this.#rows.get(path);
  }

  /** Every document, ordered by store and path. */
  documents(): FiberDocument[] {
    return [...this.#rows.values()].sort((a, b) => compare(a.store, b.store) || compare(a.path, b.path));
  }

  getPath(path: string): FiberDocument | undefined {
    return this.#rows.get(path);
  }

  /** By canonical id, else uid, else a leaf that only one has; throws `fiber_not_found` or `ambiguous_fiber`. */
  get(reference: string): FiberDocument {
    const ref = reference.trim();
    const paths = this.#byId.get(ref) ?? this.#byUid.get(ref.toUpperCase()) ?? this.#byLeaf.get(ref);
    if (paths === undefined) {
      throw new CodedError('fiber_not_found', `no fiber "${reference}" in the polled stores`);
    }
    const rows = [...paths].map((path) => this.#rows.get(path)!);
    if (rows.length === 1) return rows[0]!;
    throw new CodedError(
      'ambiguous_fiber',
      `"${reference}" names ${rows.map((row) => `${row.id} in ${row.store}`).join(' and ')}; give the uid or the whole id`,
      { details: { matches: rows.map((row) => ({ id: row.id, store: row.store })) } },
    );
  }

  /** True if another document has the same canonical id or uid: such a fiber must not be dispatched. */
  isAmbiguous(row: FiberDocument): boolean {
    const sameUid = row.uid === null ? 1 : (this.#byUid.get(row.uid.toUpperCase())?.size ?? 0);
    return (this.#byId.get(row.id)?.size ?? 0) > 1 || sameUid > 1;
  }

  /**
   * Two sweeps do not notice a file that changed and changed back between them, but its row may have been read in
   * between. So a refreshed row is read again, at each sweep until the result stays the same.
   */
  #lookAgain(path: string, read: ReadRow): boolean {
    try {
      if (this.refresh(path, read)) return true;
      this.#refreshed.delete(path);
      return false;
    } catch {
      return false;
    }
  }

  /** A document that cannot be read now keeps the row of the sweep, so that the rest of the sweep is still applied. */
  #refreshSwept(path: string, found: FiberDocument | null, read: ReadRow): boolean {
    try {
      return this.refresh(path, read);
    } catch {
      return found === null ? this.#drop(path) : this.#put(found);
    }
  }

  #put(row: FiberDocument): boolean {
    const before = this.#rows.get(row.path);
    if (before !== undefined && before.digest === row.digest && before.error === row.error) return false;
    if (before !== undefined) this.#unlist(before);
    this.#generation += 1;
    this.#rows.set(row.path, row);
    add(this.#byId, row.id, row.path);
    if (row.uid !== null) add(this.#byUid, row.uid.toUpperCase(), row.path);
    add(this.#byLeaf, row.leaf, row.path);
    return true;
  }

  #drop(path: string): boolean {
    const row = this.#rows.get(path);
    if (row === undefined) return false;
    this.#unlist(row);
    this.#generation += 1;
    this.#rows.delete(path);
    return true;
  }

  #unlist(row: FiberDocument): void {
    remove(this.#byId, row.id, row.path);
    if (row.uid !== null) remove(this.#byUid, row.uid.toUpperCase(), row.path);
    remove(this.#byLeaf, row.leaf, row.path);
  }
}

function add(index: Map<string, Set<string>>, key: string, path: string): void {
  const paths = index.get(key);
  if (paths === undefined) index.set(key, new Set([path]));
  else paths.add(path);
}

function remove(index: Map<string, Set<string>>, key: string, path: string): void {
  const paths = index.get(key);
  paths?.delete(path);
  if (paths?.size === 0) index.delete(key);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
