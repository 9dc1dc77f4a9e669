import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { candidatePaths, FIBERS_FOLDER } from './fiber-id.ts';
import { namePaths, tellApart } from './fiber-reference.ts';
import type { SweepResult } from './sweep-result.ts';

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
  #byUid = new PathsByKey();
  /** The number of documents of each store that has any. */
  #counts = new Map<string, number>();
  #refreshed = new Map<string, number>();
  /** Documents that others with their uid came to, or left, since it was last asked. */
  #twinned = new Set<string>();
  #moment = 0;
  #generation = 0;

  /** A counter of row changes. */
  get generation(): number {
    return this.#generation;
  }

  /** The ticket of the last sweep that began; every later sweep has a higher one. */
  get moment(): SweepTicket {
    return this.#moment;
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
    const refreshed = new Map(
      [...this.#refreshed].filter(([path]) => path.startsWith(`${store}/${FIBERS_FOLDER}/`)),
    );
    const take = (path: string, row: FiberDocument | null): void => {
      const moment = refreshed.get(path);
      if (moment !== undefined && moment >= since) {
        moved = this.#refreshSwept(path, row, read) || moved;
        return;
      }
      if (moment !== undefined) {
        refreshed.delete(path);
        this.#refreshed.delete(path);
      }
      moved = (row === null ? this.#drop(path) : this.#put(row)) || moved;
    };
    for (const path of result.removed) take(path, null);
    for (const row of result.changed) if (row.store === store) take(row.path, row);
    for (const [path, moment] of refreshed) {
      if (moment >= since) continue;
      this.#refreshed.delete(path);
      moved = this.#lookAgain(path, read) || moved;
    }
    return moved;
  }

  /**
   * Adds documents that a sweep under way has read and that are not known yet; answers their paths. The result of the
   * sweep is applied in any case.
   */
  addNew(rows: readonly FiberDocument[], since: SweepTicket): string[] {
    const added = rows.filter(
      ({ path }) => !this.#rows.has(path) && (this.#refreshed.get(path) ?? Number.NEGATIVE_INFINITY) < since,
    );
    for (const row of added) this.#put(row);
    return added.map(({ path }) => path);
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
    return this.#counts.get(store) ?? 0;
  }

  /** The document with a uid; undefined if none or several have it. */
  getUid(uid: string): FiberDocument | undefined {
    const [path, other] = this.#byUid.get(uid.toUpperCase());
    return path === undefined || other !== undefined ? undefined : this.#rows.get(path);
  }

  /** The documents that a fiber key means: several where they share their uid. */
  keyed(key: string): FiberDocument[] {
    const found = this.#withUid(key);
    const at = found.length === 0 ? this.#rows.get(key) : undefined;
    return at === undefined ? found : [at];
  }

  /** Paths of the documents whose `twins` changed since the last call. */
  takeTwinned(): string[] {
    const paths = [...this.#twinned];
    this.#twinned.clear();
    return paths;
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
    const searches = [this.#withId, this.#withUid, this.#withNormalId, this.#withLeaf];
    let rows: FiberDocument[] = [];
    for (const search of searches) if (rows.length === 0) rows = search.call(this, ref);
    const [first, other] = rows;
    if (first === undefined)
      throw new CodedError('fiber_not_found', `no fiber "${reference}" in the polled stores`);
    if (other === undefined) return first;
    throw new CodedError('ambiguous_fiber', `"${reference}" names ${namePaths(rows)}; ${tellApart(rows)}`, {
      details: { matches: rows.map((row) => ({ id: row.id, store: row.store })) },
    });
  }

  /** True if it has twins: such a fiber must not be dispatched. */
  isAmbiguous(row: FiberDocument): boolean {
    const sameUid = row.uid === null ? 1 : this.#byUid.count(row.uid.toUpperCase());
    return sameUid > 1 || this.#withIdIn(row.store, row.id).length > 1;
  }

  /**
   * The other documents with its uid, and those of its store with its canonical id. A fiber of another store that only
   * has the same id is another fiber, which its uid tells apart.
   */
  twins(row: FiberDocument): FiberDocument[] {
    const rows = new Set(this.#withIdIn(row.store, row.id));
    if (row.uid !== null) for (const twin of this.#withUid(row.uid)) rows.add(twin);
    return [...rows].filter(({ path }) => path !== row.path);
  }

  /** The path of a document follows from its id, so that ids need no map of their own. */
  #withId(id: string): FiberDocument[] {
    return [...this.#counts.keys()].flatMap((store) => this.#withIdIn(store, id));
  }

  #withIdIn(store: string, id: string): FiberDocument[] {
    return candidatePaths(store, id)
      .flatMap((path) => this.#rows.get(path) ?? [])
      .filter((row) => row.id === id);
  }

  #withUid(uid: string): FiberDocument[] {
    return this.#byUid.get(uid.toUpperCase()).map((path) => this.#rows.get(path)!);
  }

  /** Keyboards compose accents, and some file systems and editors take them apart. */
  #withNormalId(id: string): FiberDocument[] {
    const normal = id.normalize('NFC');
    if (isAscii(normal)) return [];
    return [...this.#rows.values()].filter((row) => row.id.normalize('NFC') === normal);
  }

  /** A leaf is asked for by a person, rarely, and not worth a map. */
  #withLeaf(leaf: string): FiberDocument[] {
    const normal = leaf.normalize('NFC');
    if (isAscii(normal)) return [...this.#rows.values()].filter((row) => row.leaf === leaf);
    return [...this.#rows.values()].filter((row) => row.leaf.normalize('NFC') === normal);
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
    if (row.uid !== null) this.#byUid.add(row.uid.toUpperCase(), row.path);
    this.#counts.set(row.store, this.count(row.store) + 1);
    this.#nameTwins(row.uid);
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

  /** Each row names the others with its uid, so that whoever has one row knows that its uid is not its own. */
  #nameTwins(uid: string | null): void {
    const rows = uid === null ? [] : this.#withUid(uid);
    for (const row of rows) {
      const { twins: before = [], ...rest } = row;
      const twins = rows.flatMap(({ path }) => (path === row.path ? [] : [path])).sort();
      if (twins.join('\0') === before.join('\0')) continue;
      this.#rows.set(row.path, twins.length === 0 ? rest : { ...rest, twins });
      this.#twinned.add(row.path);
      this.#generation += 1;
    }
  }

  #unlist(row: FiberDocument): void {
    if (row.uid !== null) this.#byUid.remove(row.uid.toUpperCase(), row.path);
    this.#nameTwins(row.uid);
    const left = this.count(row.store) - 1;
    if (left > 0) this.#counts.set(row.store, left);
    else this.#counts.delete(row.store);
  }
}

/** Paths by a key that nearly always only one has: a set for each would take most of the memory of the index. */
class PathsByKey {
  readonly #paths = new Map<string, string | Set<string>>();

  get(key: string): string[] {
    const found = this.#paths.get(key) ?? [];
    return typeof found === 'string' ? [found] : [...found];
  }

  count(key: string): number {
    const found = this.#paths.get(key);
    return found === undefined ? 0 : typeof found === 'string' ? 1 : found.size;
  }

  add(key: string, path: string): void {
    const before = this.#paths.get(key);
    if (before === undefined) this.#paths.set(key, path);
    else if (typeof before !== 'string') before.add(path);
    else if (before !== path) this.#paths.set(key, new Set([before, path]));
  }

  remove(key: string, path: string): void {
    const before = this.#paths.get(key);
    if (before === undefined || before === path) this.#paths.delete(key);
    else if (typeof before !== 'string' && before.delete(path) && before.size === 0) this.#paths.delete(key);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Such a text has one Unicode form. */
function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}
