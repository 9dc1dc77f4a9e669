import { systemClock } from '../../base/clock.ts';
import { CodedError, isCoded, messageOf, systemCode } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { DocumentWithBody, ParsedDocument } from '../../fibers/document.ts';
import { isUnreadYet, whenParsed } from '../../fibers/document-parser.ts';
import { isSilentDisk, type Reach } from '../../fibers/document-reader.ts';
import { isSafeId } from '../../fibers/fiber-id.ts';
import { finishNest, type Nested, nestFiber, type PlannedNest, planNest } from '../../fibers/nest.ts';
import type { NewFiber } from '../../fibers/new-document.ts';
import { type PlanEdit, type PlannedWrite, Store, type StoreOptions } from '../../fibers/store.ts';
import type { StoreIndex } from '../../fibers/store-index.ts';
import type { DocumentChange, Documents } from '../world/documents.ts';
import { PooledParser } from './pooled-parser.ts';
import type { StoreReader } from './store-poll.ts';

/**
 * The documents of the polled stores: rows from the index, bodies and writes from the files. After every
 * read and write the index has the row as it is on disk; `onRow` is told which path, and whether this process wrote it.
 */
export class StoreDocuments implements Documents {
  readonly #index: StoreIndex;
  readonly #stores = new Map<string, Store>();
  /** Stores that are polled no more: what is under way in them may end. */
  readonly #former = new Map<string, Store>();
  readonly #options: StoreOptions;
  readonly #parser: PooledParser;
  readonly #isSilent: (root: string) => boolean;
  readonly #onRow: (path: string, written: boolean) => void;
  readonly #onLateRow: (path: string) => void;
  readonly #logger: Logger;
  /** Documents that a pool thread parses now. */
  readonly #late = new Set<string>();

  constructor(options: {
    index: StoreIndex;
    roots: readonly string[];
    store: StoreOptions;
    pool: StoreReader;
    logger: Logger;
    /** True for a store whose disk is known not to answer: it is not touched. */
    isSilent: (root: string) => boolean;
    onRow: (path: string, written: boolean) => void;
    /** Told of a row that moved only after a pool thread had parsed its document. */
    onLateRow: (path: string) => void;
  }) {
    this.#index = options.index;
    this.#parser = new PooledParser({
      pool: options.pool,
      clock: options.store.clock ?? systemClock,
      isKnown: (path, digest) => options.index.getPath(path)?.digest === digest,
      reach: (root) => ({
        follow: options.store.follow?.(root) ?? false,
        answering: this.answering,
      }),
    });
    this.#options = { ...options.store, parser: this.#parser };
    this.#isSilent = options.isSilent;
    this.#onRow = options.onRow;
    this.#onLateRow = options.onLateRow;
    this.#logger = options.logger;
    this.setRoots(options.roots);
  }

  /** Roots of the stores, in the order of the list. */
  get roots(): string[] {
    return [...this.#stores.keys()];
  }

  /** Changes which stores these are; the documents of those that are none any more leave the index. */
  setRoots(roots: readonly string[]): void {
    const before = new Map(this.#stores);
    this.#stores.clear();
    for (const root of roots) {
      const known = before.get(root) ?? this.#former.get(root) ?? new Store(root, this.#options);
      this.#stores.set(root, known);
      this.#former.delete(root);
    }
    for (const [root, store] of before) {
      if (this.#stores.has(root)) continue;
      this.#former.set(root, store);
      this.#index.removeStore(root);
    }
  }

  /** Roots of the stores whose documents may be links out of them. */
  get followed(): string[] {
    return [...this.#stores.values()].filter((store) => store.follows).map((store) => store.root);
  }

  /** Mounts of other machines that documents may be read from now. */
  get answering(): Reach['answering'] {
    return this.#options.answering?.() ?? 'all';
  }

  all(): Iterable<FiberDocument> {
    return this.#index.rows();
  }

  /** Roots of stores whose disks are known to be silent. */
  get silent(): string[] {
    return this.roots.filter((root) => this.#isSilent(root));
  }

  /** Counts the changes of rows. */
  get generation(): number {
    return this.#index.generation;
  }

  find(id: string): FiberDocument {
    return this.#index.get(id);
  }

  /**
   * `find`, also for a document that no listing has shown yet: by canonical id it is looked for on disk, in one store
   * where one is named.
   */
  look(id: string, root?: string): FiberDocument {
    const stores = root === undefined ? [...this.#stores.values()] : [this.#storeOf(root)];
    const find = () => {
      const found = this.#index.get(id);
      if (root !== undefined && found.store !== root)
        throw new CodedError('fiber_not_found', `no fiber "${id}" in ${root}`);
      return found;
    };
    try {
      return find();
    } catch (error) {
      const elsewhere = root !== undefined && isCoded(error, 'ambiguous_fiber');
      if (!elsewhere && !isCoded(error, 'fiber_not_found')) throw error;
      for (const store of isSafeId(id) ? stores : []) {
        if (this.#isSilent(store.root)) continue;
        const path = store.locate(id);
        if (path === null) continue;
        this.#take(path, store.root);
        const row = this.#index.getPath(path);
        if (row !== undefined) return row;
      }
      throw error;
    }
  }

  byUid(uid: string): FiberDocument | undefined {
    return this.#index.getUid(uid);
  }

  of(run: { path: string; uid: string }): FiberDocument | undefined {
    const at = this.#index.getPath(run.path);
    const same = at?.uid?.toUpperCase() === run.uid.toUpperCase();
    // A document that cannot be read has no uid to compare.
    return same || at?.error !== undefined ? at : this.#index.getUid(run.uid);
  }

  isAmbiguous(document: FiberDocument): boolean {
    return this.#index.isAmbiguous(document);
  }

  twins(document: FiberDocument): FiberDocument[] {
    return this.#index.twins(document);
  }

  reread(document: FiberDocument): FiberDocument | undefined {
    try {
      this.#take(document.path, document.store);
    } catch (error) {
      if (isUnreadYet(error)) this.#takeLater(document.path, document.store);
      throw error;
    }
    return this.#index.getPath(document.path);
  }

  /** Answers `run`, once more whenever a document must be parsed by a pool thread before it. */
  whenRead<T>(run: () => T | Promise<T>): Promise<T> {
    return whenParsed(this.#parser, run);
  }

  /** Waits until the row of a fiber is that of its file; of one that cannot be found or read nothing is said here. */
  async settle(reference: string, root?: string): Promise<void> {
    await this.whenRead(() => this.reread(this.look(reference, root))).catch(() => undefined);
  }

  async change(
    document: FiberDocument,
    plan: (current: FiberDocument) => DocumentChange,
  ): Promise<FiberDocument> {
    return rowOf(await this.edit(document, editOf(plan)));
  }

  planChange(
    document: FiberDocument,
    plan: (current: FiberDocument) => DocumentChange,
  ): Promise<PlannedWrite> {
    return this.planEdit(document, editOf(plan));
  }

  /** Edits one document under its lock and takes the result into the index. */
  async edit(
    document: Pick<FiberDocument, 'id' | 'path' | 'store'>,
    plan: PlanEdit,
    expected_digest?: string,
  ): Promise<DocumentWithBody> {
    try {
      const written = await this.#storeOf(document.store).update(document.id, plan, expected_digest);
      return { ...rowOf(written), body: written.body };
    } finally {
      this.refresh(document.path, document.store, true);
    }
  }

  /** What `edit` would write now, without lock or write. */
  async planEdit(
    { id, store }: Pick<FiberDocument, 'id' | 'store'>,
    plan: PlanEdit,
    expectedDigest?: string,
  ): Promise<PlannedWrite> {
    return this.whenRead(() => this.#storeOf(store).planEdit(id, plan, { expectedDigest }));
  }

  /** What `create` would write now, likewise. */
  planCreate(root: string, fiber: NewFiber): PlannedWrite {
    this.requireThere(root);
    return this.#storeOf(root).planCreate(fiber);
  }

  /** Throws `store_unavailable` while the store is away as a whole. */
  requireThere(root: string): void {
    this.#storeOf(root).requireThere();
  }

  async create(root: string, fiber: NewFiber): Promise<DocumentWithBody> {
    const created = await this.#storeOf(root).create(fiber);
    this.refresh(created.path, root);
    return { ...rowOf(created), body: created.body };
  }

  /** Moves a fiber below another one of its store, or to the top. */
  async nest(document: FiberDocument, parent: FiberDocument | null): Promise<Nested> {
    requireOneStore(document, parent);
    const store = this.#storeOf(document.store);
    let rows: FiberDocument[] = [];
    const to = parent === null ? document.leaf : `${parent.id}/${document.leaf}`;
    const nested = await nestFiber(store, document.id, parent?.id ?? null, {
      onMoving: () => {
        rows = [...this.#index.rows()].filter(
          ({ id, store: root }) =>
            root === document.store && (id === document.id || id.startsWith(`${document.id}/`)),
        );
        for (const row of rows) this.#parser.wrote(row.digest);
      },
      onMoved: () => {
        for (const row of rows) {
          const id = `${to}${row.id.slice(document.id.length)}`;
          const path = store.locate(id);
          if (path === null) continue;
          this.refresh(row.path, row.store);
          this.refresh(path, row.store);
        }
      },
    });
    for (const id of nested.rewritten) {
      const path = store.locate(id);
      if (path !== null) this.refresh(path, document.store);
    }
    return nested;
  }

  /** What `nest` would do now, without lock or write. */
  async planNest(document: FiberDocument, parent: FiberDocument | null): Promise<PlannedNest> {
    requireOneStore(document, parent);
    return planNest(this.#storeOf(document.store), document.id, parent?.id ?? null);
  }

  /** Finishes a move that a crash cut short. */
  async finishMoves(root: string): Promise<void> {
    await finishNest(this.#storeOf(root));
  }

  /** One document and its body as they are on disk, by canonical id, uid or unique leaf. */
  async open(id: string): Promise<{ document: FiberDocument; body: string }> {
    const known = this.#index.get(id);
    const read = await this.whenRead(() => this.#storeOf(known.store).readPath(known.path));
    if (read.digest !== known.digest) this.refresh(known.path, known.store);
    return { document: rowOf(read), body: read.body };
  }

  /** The body of one document; empty for one that cannot be read now. */
  bodyOf(document: FiberDocument): string {
    try {
      return this.#storeOf(document.store).readBody(document.path);
    } catch (error) {
      if (isCoded(error, 'fiber_not_found') || isCoded(error, 'store_unavailable')) return '';
      throw error;
    }
  }

  /**
   * Takes one file into the index as it is now; true when its row moved. The row of one that a pool thread must parse
   * first stays as it is, and moves as soon as that is done.
   */
  refresh(path: string, root: string, written = false): boolean {
    try {
      return this.#take(path, root, written);
    } catch (error) {
      if (!isUnreadYet(error)) throw error;
      this.#takeLater(path, root);
      return false;
    }
  }

  /** Whether a folder of a store is there, with no link on the way; false also where its disk does not answer. */
  hasFolder(folder: string, root: string): boolean {
    try {
      return this.#storeOf(root).hasFolder(folder);
    } catch (error) {
      if (isCoded(error)) return false;
      throw error;
    }
  }

  /** One row from disk, or as it was where a pool thread must parse the document first; null when the file is gone. */
  readRow(path: string, root: string): FiberDocument | null {
    try {
      return this.#readNow(path, root);
    } catch (error) {
      if (!isUnreadYet(error)) throw error;
      this.#takeLater(path, root);
      return this.#index.getPath(path) ?? null;
    }
  }

  #take(path: string, root: string, written = false): boolean {
    if (!this.#stores.has(root)) return false;
    const moved = this.#index.refresh(path, (file) => this.#readNow(file, root));
    if (moved) this.#onRow(path, written);
    return moved;
  }

  #takeLater(path: string, root: string): void {
    if (this.#late.has(path)) return;
    this.#late.add(path);
    void this.whenRead(() => this.#take(path, root))
      .then((moved) => moved && this.#onLateRow(path))
      // The next listing of the store has it.
      .catch((error) => this.#logger.warn({ path, detail: messageOf(error) }, 'a document was not read'))
      .finally(() => this.#late.delete(path));
  }

  /** One row from disk, with its error where what lies there is no readable document; null when the file is gone. */
  #readNow(path: string, root: string): FiberDocument | null {
    try {
      return rowOf(this.#storeOf(root).readPath(path));
    } catch (error) {
      if (isCoded(error, 'fiber_not_found')) return null;
      // A disk that does not answer says nothing of the document; what lies in its place does.
      const isAnswer =
        isCoded(error, 'store_unavailable') && !isUnreadYet(error) && systemCode(error.cause) === undefined;
      if (isAnswer && (!isSilentDisk(error) || this.#index.getPath(path) === undefined))
        return this.#storeOf(root).unreadableRow(path, error);
      throw error;
    }
  }

  #storeOf(root: string): Store {
    const store = this.#stores.get(root) ?? this.#former.get(root);
    if (store === undefined) throw new CodedError('store_not_found', `${root} is not a store of this daemon`);
    if (this.#isSilent(root))
      throw new CodedError(
        'store_unavailable',
        `the disk of ${root} does not answer; it is retried automatically`,
      );
    return store;
  }
}

function requireOneStore(document: FiberDocument, parent: FiberDocument | null): void {
  if (parent === null || parent.store === document.store) return;
  throw new CodedError(
    'invalid_request',
    `${parent.id} lies in ${parent.store} and ${document.id} in ${document.store}; a fiber stays in its store`,
  );
}

/** A change that changes nothing is no edit. */
function editOf(plan: (current: FiberDocument) => DocumentChange): PlanEdit {
  return (current) => {
    const change = plan(current);
    return Object.keys(change.set).length === 0 && change.unset.length === 0 ? null : change;
  };
}

/** A document as a row: without its body and without what only a writer needs. */
function rowOf(document: ParsedDocument): FiberDocument {
  const { body: _body, fault: _fault, ...row } = document;
  return row;
}
