import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ulid } from 'ulid';
import { type Clock, systemClock } from '../base/clock.ts';
import { sha256Of } from '../base/digest.ts';
import { CodedError, isCoded, messageOf, systemCode } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import {
  confirmDone,
  isTemporaryName,
  removeLeftTemporaries,
  writeFileAtomic,
} from '../platform/atomic-write.ts';
import {
  acquireFileLock,
  type FileLock,
  isLockName,
  type LockOwner,
  removeLeftLockFiles,
} from '../platform/file-lock.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { storageError, storageFault } from '../platform/storage-error.ts';
import {
  type DocumentWithBody,
  MAX_DOCUMENT_BYTES,
  type ParsedDocument,
  parseDocument,
  unreadableDocument,
} from './document.ts';
import { type DocumentParser, directParser, whenParsed } from './document-parser.ts';
import { type DocumentFile, DocumentReader, type Reach, unreadable, unusable } from './document-reader.ts';
import { type DocumentEdit, editDocument } from './edit.ts';
import {
  candidatePaths,
  FIBERS_FOLDER,
  idOfPath,
  isFeedId,
  isSafeId,
  leafOf,
  requireSlug,
  slugFromName,
  unsafeId,
} from './fiber-id.ts';
import { splitFrontmatter } from './frontmatter.ts';
import { type NewFiber, newDocumentText } from './new-document.ts';
import { storeAway, storeUnavailable } from './store-away.ts';
import { sweepStore } from './sweep.ts';
import { decodeSweep, type SweepError } from './sweep-result.ts';

export type StoreOptions = {
  clock?: Clock;
  /** Milliseconds to wait for another writer of the same document before `locked`. Default 5,000. */
  lockTimeoutMs?: number;
  /** The restartable component that writes, so that a lock of its previous generation does not block it. */
  owner?: LockOwner;
  /** Whether documents of this store may be symlinks out of it; evaluated at each call. Default: never. */
  follow?: (root: string) => boolean;
  /** Mounts of other machines that may be entered, evaluated at each call; see `Reach`. Default: all. */
  answering?: () => readonly string[];
  /** Default: every document is parsed in the calling thread. */
  parser?: DocumentParser;
};
/** Plans an edit from the document read under the lock; `null` writes nothing. */
export type PlanEdit = (document: DocumentWithBody) => DocumentEdit | null;
/** A planned write of one document; a text of null means that the file does not exist. */
export type PlannedWrite = {
  path: string;
  /** The path below the store, as in a diff. */
  name: string;
  before: string | null;
  /** Equal to `before` if nothing is to be written. */
  after: string | null;
  /** The document after the write. */
  document: DocumentWithBody;
};
/** A planned removal; `beside`: paths of the other entries that are removed with the document. */
export type PlannedRemoval = { id: string; path: string; name: string; beside: string[] };
type PlannedEdit = PlannedWrite & { file: DocumentFile; after: string };
export type Listing = { documents: FiberDocument[]; errors: SweepError[] };

/** Maximum retries of an edit when a program without the lock wrote in between. */
const MAX_REPLANS = 5;

/** Errors of a disk; any other tells that a part of the path is something else than a folder. */
const DISK_FAULTS: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EACCES',
  'EPERM',
]);

/**
 * Makes a folder a store; idempotent. Throws `invalid_request` for a path that is not a folder, `storage_unavailable` if
 * the disk refuses the write.
 */
export function initStore(root: string): Store {
  try {
    makeFolder(join(resolve(root), FIBERS_FOLDER), 0o777);
  } catch (error) {
    if (DISK_FAULTS.has(systemCode(error))) throw storageError(resolve(root), error, 'no store was made');
    throw new CodedError('invalid_request', `not a directory: ${root} (${messageOf(error)})`, {
      cause: error,
    });
  }
  return openStore(root);
}

/** Opens the store of a folder; throws `store_unavailable` if it has no readable `.fibers`. */
export function openStore(root: string, options: StoreOptions = {}): Store {
  const absolute = resolve(root);
  const away = storeAway(absolute);
  if (systemCode(away) === 'ENOENT')
    throw new CodedError(
      'store_unavailable',
      `${absolute} is not a store; make it one with: svc fiber init ${shellWord(absolute)}`,
      { cause: away },
    );
  if (away !== null) throw storeUnavailable(absolute, away);
  return new Store(absolute, options);
}

/** One folder of markdown fibers. The files are the source of truth: nothing is cached between calls. */
export class Store {
  readonly root: string;
  #base: string;
  #clock: Clock;
  #parser: DocumentParser;
  #options: StoreOptions;

  constructor(root: string, options: StoreOptions = {}) {
    this.root = root;
    this.#base = join(root, FIBERS_FOLDER);
    this.#clock = options.clock ?? systemClock;
    this.#parser = options.parser ?? directParser;
    this.#options = options;
  }

  /** Whether documents may be symlinks out of the store. */
  get follows(): boolean {
    return this.#options.follow?.(this.root) ?? false;
  }

  /** Mounts of other machines that may be entered now. */
  get answering(): Reach['answering'] {
    return this.#options.answering?.() ?? 'all';
  }

  get #reach(): Reach {
    return { follow: this.follows, answering: this.answering };
  }

  /** All documents without bodies, and the files that could not be read. */
  list(): Listing {
    const { changed, errors } = decodeSweep(
      sweepStore(this.root, new Uint8Array(), this.#clock.now(), this.#reach),
    );
    return { documents: changed, errors };
  }

  /**
   * Path of the document with a canonical id, or null. Throws `invalid_request` for an id that leads out of the store,
   * `ambiguous_fiber` if both a folder and a bare document have it.
   */
  locate(id: string): string | null {
    if (!isSafeId(id)) throw unsafeId(id);
    const reader = this.#reader();
    const found = candidatePaths(this.root, id).filter((path) => reader.isThere(path));
    if (found.length > 1) {
      throw new CodedError(
        'ambiguous_fiber',
        `"${id}" is claimed by ${found.join(' and ')}; move one of them`,
        {
          details: { paths: found },
        },
      );
    }
    return found[0] ?? null;
  }

  /** Whether a folder below `.fibers` is there, with no link on the way. */
  hasFolder(path: string): boolean {
    return this.#reader().isWithin(join(path, FIBERS_FOLDER));
  }

  /** One document with its body, by canonical id; throws `fiber_not_found`. */
  read(id: string): DocumentWithBody {
    return this.readPath(this.#require(id));
  }

  /** One document with its body, by absolute path; throws `fiber_not_found` or `store_unavailable`. */
  readPath(path: string): ParsedDocument {
    return this.#parser.parse(this.readBytes(path), this.#place(path));
  }

  /** The body of one document, by absolute path, whatever its frontmatter; throws as `readPath`. */
  readBody(path: string): string {
    return splitFrontmatter(this.readBytes(path).toString('utf8'))?.body ?? '';
  }

  /** Ids and absolute paths of all documents, without reading them. */
  places(): { id: string; path: string }[] {
    const { unread } = decodeSweep(
      sweepStore(this.root, new Uint8Array(), this.#clock.now(), {
        ...{ most_new: 0, name_all: true, ...this.#reach },
      }),
    );
    return unread.map((path) => ({ id: idOfPath(path), path: join(this.#base, path) }));
  }

  /** Runs `run`, and retries it after parsing a document in another thread whenever that is required. */
  whenRead<T>(run: () => T | Promise<T>): Promise<T> {
    return whenParsed(this.#parser, run);
  }

  /** Throws `store_unavailable` while the store is away as a whole. */
  requireThere(): void {
    const away = this.#away();
    if (away !== null) throw away;
  }

  /**
   * Creates a fiber and mints its ULID; throws `already_exists` with a free slug, `fiber_not_found` for the parent, and
   * `store_unavailable` rather than make a store that is away anew.
   */
  async create(fiber: NewFiber): Promise<DocumentWithBody> {
    this.requireThere();
    // Planned before the lock: a folder that leads out of the store must not even get a lock file.
    const { path, after, document } = this.planCreate(fiber);
    const lock = await this.#lockNew(path);
    try {
      removeLeftTemporaries(path);
      removeLeftLockFiles(lockPath(path));
      this.#requireFree(document.id, path);
      this.#parser.wrote(document.digest);
      writeFileAtomic(path, after, { mode: 0o644 });
    } finally {
      lock.release();
    }
    return document;
  }

  /** The plan of `create`, with all its checks and no effect; each plan mints its own ULID and times. */
  planCreate(fiber: NewFiber): PlannedWrite & { after: string } {
    if (fiber.parent !== undefined) this.#require(fiber.parent);
    const under = fiber.parent === undefined ? '' : `${fiber.parent}/`;
    const slug = fiber.slug ?? (slugFromName(fiber.name) || this.#unnamedSlug(under));
    const id = `${under}${requireSlug(slug)}`;
    const now = this.#clock.now();
    const after = requireSize(newDocumentText(ulid(now), fiber, now));
    const path = candidatePaths(this.root, id)[0]!;
    this.#requireFree(id, path);
    const document = this.#requireReadable(path, after, undefined);
    return { path, name: this.#nameOf(path), before: null, after, document };
  }

  /** `update` with a fixed edit. */
  edit(id: string, edit: DocumentEdit, expectedDigest?: string): Promise<DocumentWithBody> {
    return this.update(id, () => edit, expectedDigest);
  }

  /**
   * Changes one document under its lock: reads it, calls `plan`, and writes the result atomically. If the bytes have
   * changed since `plan` saw them, it retries. Returns the document as written. Throws `conflict` (details `{conflict:
   * true, digest}`) if `expectedDigest` is not the digest under the lock, `invalid_document`, `locked`,
   * `fiber_not_found`, and the errors of `plan`.
   */
  async update(id: string, plan: PlanEdit, expectedDigest?: string): Promise<DocumentWithBody> {
    const path = this.requireOwn(id);
    const lock = await this.#lockExisting(path);
    try {
      this.#cleanAround(path);
      for (let round = 0; round < MAX_REPLANS; round += 1) {
        const planned = await this.whenRead(() => this.#planEdit(path, path, plan, expectedDigest));
        if (this.#commit(planned)) return planned.document;
      }
    } finally {
      lock.release();
    }
    throw new CodedError('locked', `another program keeps writing ${path}; close it and try again`);
  }

  /**
   * Replaces the whole text of one document under its lock, as a person wrote it, and returns it as written. Throws `conflict`
   * if its bytes no longer have `expectedDigest`, `invalid_request` for a text that is no readable fiber, `locked`,
   * `fiber_not_found`.
   */
  async replace(id: string, text: string, expectedDigest: string): Promise<DocumentWithBody> {
    const path = this.requireOwn(id);
    const lock = await this.#lockExisting(path);
    try {
      this.#cleanAround(path);
      const planned = this.#planReplacement(path, text, expectedDigest);
      if (this.#commit(planned)) return planned.document;
    } finally {
      lock.release();
    }
    throw new CodedError('conflict', `"${id}" was changed in the meantime; read it again first`, {
      details: { conflict: true },
    });
  }

  #planReplacement(path: string, text: string, expectedDigest: string): PlannedEdit {
    const file = this.#readFile(path);
    const digest = sha256Of(file.bytes);
    if (digest !== expectedDigest)
      throw new CodedError('conflict', `"${path}" was changed in the meantime; read it again first`, {
        details: { conflict: true, digest },
      });
    const [before, after] = [file.bytes.toString('utf8'), requireSize(text)];
    const document = this.#requireReadable(path, after, undefined);
    return { path, name: this.#nameOf(path), file, before, after, document };
  }

  /**
   * Removes a fiber's document, and its folders if they become empty. Companions or children are refused with
   * `conflict` unless `recursive`, which removes the whole folder.
   */
  async remove(id: string, options: { recursive?: boolean } = {}): Promise<{ id: string; path: string }> {
    // Planned before the lock: a fiber that leads out of the store must not even get a lock file.
    const { path } = this.planRemove(id, options);
    const lock = await this.#lockExisting(path);
    try {
      this.#cleanAround(path);
      const { beside } = this.planRemove(id, options);
      rmSync(path);
      for (const companion of beside) this.#removeBeside(path, companion);
      confirmDone(path, 'removed', dirname(path));
    } finally {
      lock.release();
    }
    if (dirname(path) !== this.#base) this.#removeEmptyFolders(dirname(path));
    return { id, path };
  }

  /**
   * The plan of `update` at this moment, with all its checks, no effect and no lock. `place` is the location after an
   * earlier move of the same rehearsal.
   */
  planEdit(
    id: string,
    plan: PlanEdit,
    { expectedDigest, place }: { expectedDigest?: string | undefined; place?: string } = {},
  ): PlannedWrite {
    const path = this.#require(id);
    return this.#planEdit(path, place ?? path, plan, expectedDigest);
  }

  /** The plan of `remove` at this moment, with all its checks and no effect. */
  planRemove(id: string, options: { recursive?: boolean } = {}): PlannedRemoval {
    const path = this.requireOwn(id);
    const folder = dirname(path);
    const others = folder === this.#base ? [] : this.#others(folder, path);
    if (others.length > 0 && options.recursive !== true)
      throw new CodedError(
        'conflict',
        `"${id}" has ${others.length} other ${others.length === 1 ? 'entry' : 'entries'} beside it (${others.slice(0, 3).join(', ')}); remove them too with --recursive`,
        { details: { entries: others } },
      );
    return { id, path, name: this.#nameOf(path), beside: others.map((name) => join(folder, name)) };
  }

  #nameOf(path: string): string {
    return relative(this.root, path).split(sep).join('/');
  }

  #requireFree(id: string, path: string): void {
    if (isFeedId(id)) {
      const free = this.#freeSlug(id);
      throw new CodedError(
        'already_exists',
        `"${id}" is the feed of all hosts in /fibers, and no fiber at the top level can be called so; try the slug "${free}"`,
        { details: { id, suggestion: free } },
      );
    }
    if (this.locate(id) !== null) {
      const free = this.#freeSlug(id);
      throw new CodedError('already_exists', `the fiber "${id}" exists already; try the slug "${free}"`, {
        details: { id, suggestion: free },
      });
    }
    if (this.#reader().isBehindLink(path))
      throw new CodedError('invalid_request', `"${id}" leads out of the store`);
  }

  #planEdit(path: string, place: string, plan: PlanEdit, expectedDigest: string | undefined): PlannedEdit {
    const file = this.#readFile(path);
    const before = file.bytes.toString('utf8');
    const document = this.#parser.parse(file.bytes, this.#place(path));
    if (expectedDigest !== undefined && document.digest !== expectedDigest) {
      throw new CodedError('conflict', `"${document.id}" was changed in the meantime; read it again first`, {
        details: { conflict: true, digest: document.digest },
      });
    }
    const edit = plan(document);
    const planned = { path: place, name: this.#nameOf(place), file, before };
    if (edit === null) return { ...planned, after: before, document };
    if (document.fault !== undefined) {
      throw new CodedError(
        'invalid_document',
        `${path} is not changed: ${document.fault}; fix it in an editor`,
        { details: { path } },
      );
    }
    const after = requireSize(editDocument(before, edit, this.#clock.now()));
    return { ...planned, after, document: this.#requireReadable(place, after, document) };
  }

  /** Parses the new text before the write; refuses it if it has an error that the document does not have now. */
  #requireReadable(path: string, text: string, before: DocumentWithBody | undefined): ParsedDocument {
    const after = parseDocument(Buffer.from(text), this.#place(path));
    if (after.error !== undefined && problemOf(after.error) !== problemOf(before?.error ?? ''))
      throw new CodedError('invalid_request', `${path} is not written: ${after.error}`, {
        details: { path },
      });
    return after;
  }

  /** Applies a planned edit while the caller holds the lock; false if the file is no longer the one that was read. */
  #commit({ path, file, before, after, document }: PlannedEdit): boolean {
    if (after === before) return true;
    this.#parser.wrote(document.digest);
    try {
      // Writes to the file that was read: the path may be a link to another one by now.
      writeFileAtomic(file.real_path, after, {
        follow: false,
        beforeRename: () => {
          const now = this.#reader().read(path);
          if (now.real_path !== file.real_path || !now.bytes.equals(file.bytes))
            throw new CodedError('conflict', 'moved', { details: { moved: true } });
        },
      });
    } catch (error) {
      if (isCoded(error, 'conflict') && error.details.moved === true) return false;
      if (systemCode(error) === 'ENOENT') throw this.#notFound(document.id);
      throw asWriteError(path, error);
    }
    return true;
  }

  /** The row of a document that `readPath` refused, as in a listing. */
  unreadableRow(path: string, error: CodedError): FiberDocument {
    return unreadableDocument(this.#place(path), unreadable(error.cause ?? error));
  }

  /** The bytes of a document, by absolute path; throws as `readPath`. */
  readBytes(path: string): Buffer {
    return this.#readFile(path).bytes;
  }

  /** Path of a document that may be written; throws `fiber_not_found`, and `store_unavailable` for a link out. */
  requireOwn(id: string): string {
    const path = this.#require(id);
    this.#realPath(path);
    return path;
  }

  /** The path of a document whose folder is known not to be a symlink. */
  #realPath(path: string): string {
    try {
      return lstatSync(path).isSymbolicLink() ? this.#reader().realPath(path) : path;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') throw this.#notFound(this.#idAt(path));
      throw asStoreError(path, error);
    }
  }

  #reader(): DocumentReader {
    return new DocumentReader(this.root, this.#reach);
  }

  #readFile(path: string): DocumentFile {
    try {
      return this.#reader().read(path);
    } catch (error) {
      const code = systemCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') throw this.#notFound(this.#idAt(path));
      throw asStoreError(path, error);
    }
  }

  #require(id: string): string {
    const path = this.locate(id);
    if (path === null) throw this.#notFound(id);
    return path;
  }

  /** A store that is away as a whole, such as a folder that is not mounted, says nothing of one fiber. */
  #notFound(id: string): CodedError {
    const away = this.#away();
    if (away !== null) return away;
    return new CodedError('fiber_not_found', `no fiber "${id}"; "svc fiber ls" lists them`);
  }

  #away(): CodedError | null {
    this.#reader().requireOpen(this.#base);
    const away = storeAway(this.root);
    return away === null ? null : storeUnavailable(this.root, away);
  }

  /** The id of the document at a path; of one that lies out of the store, behind a link, the path itself. */
  #idAt(path: string): string {
    const { relativePath } = this.#place(path);
    return relativePath.startsWith('../') ? path : idOfPath(relativePath);
  }

  #place(path: string) {
    return { store: this.root, path, relativePath: relative(this.#base, path).split(sep).join('/') };
  }

  #lockOptions() {
    return {
      timeoutMs: this.#options.lockTimeoutMs,
      ...(this.#options.owner === undefined ? {} : { owner: this.#options.owner }),
    };
  }

  async #lockExisting(path: string): Promise<FileLock> {
    try {
      return await acquireFileLock(lockPath(path), this.#lockOptions());
    } catch (error) {
      if (systemCode(error) === 'ENOENT') throw this.#notFound(this.#idAt(path));
      throw asWriteError(path, error);
    }
  }

  /** The folder may vanish before it is locked, if its only document is removed meanwhile. */
  async #lockNew(path: string): Promise<FileLock> {
    for (let round = 0; ; round += 1) {
      try {
        makeFolder(dirname(path), 0o777);
        return await acquireFileLock(lockPath(path), this.#lockOptions());
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' || round >= MAX_REPLANS) throw asWriteError(path, error);
      }
    }
  }

  #cleanAround(path: string): void {
    removeLeftTemporaries(this.#realPath(path));
    removeLeftLockFiles(lockPath(path));
  }

  #others(folder: string, path: string): string[] {
    return readdirSync(folder).filter(
      (name) => join(folder, name) !== path && !isLockName(name) && !isTemporaryName(name),
    );
  }

  /** Reports that the document is already removed if a file beside it cannot be. */
  #removeBeside(path: string, companion: string): void {
    try {
      rmSync(companion, { recursive: true, force: true });
    } catch (error) {
      throw new CodedError(
        'storage_unavailable',
        `${path} was removed, but ${companion} beside it could not be (${messageOf(error)}); remove it by hand`,
        { details: { path: companion }, cause: error },
      );
    }
  }

  #removeEmptyFolders(folder: string): void {
    for (let at = folder; at !== this.#base && at.startsWith(this.#base); at = dirname(at)) {
      try {
        rmdirSync(at);
      } catch {
        return;
      }
    }
  }

  /** The slug of a fiber whose name has neither letters nor digits. */
  #unnamedSlug(under: string): string {
    const id = `${under}fiber`;
    return this.locate(id) === null ? 'fiber' : this.#freeSlug(id);
  }

  #freeSlug(id: string): string {
    const slug = leafOf(id);
    for (let number = 2; ; number += 1) {
      const candidate = `${[...slug].slice(0, 70).join('')}-${number}`;
      if (this.locate(id.slice(0, -slug.length) + candidate) === null) return candidate;
    }
  }
}

/** An error without its line number, which changes elsewhere in the text shift. */
function problemOf(error: string): string {
  return error.replace(/^line \d+: /, '');
}

/** Refuses a document over the limit, which could be written but not read back. */
function requireSize(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DOCUMENT_BYTES) return text;
  throw new CodedError(
    'body_too_large',
    `the document would have ${bytes} bytes; a fiber may have at most ${MAX_DOCUMENT_BYTES}`,
  );
}

/** Turns a system error into an error of the store; coded errors pass unchanged. */
function asStoreError(path: string, error: unknown): unknown {
  if (systemCode(error) === undefined) return error;
  return unusable(path, messageOf(error), error);
}

/** The same for a failed write of a document, which most often a person can help. */
function asWriteError(path: string, error: unknown): unknown {
  const fault = storageFault(path, error);
  if (fault === null) return asStoreError(path, error);
  return new CodedError('store_unavailable', `${fault.said}; ${fault.mend} and try again`, {
    cause: error,
    details: { path },
  });
}

function lockPath(path: string): string {
  return join(dirname(path), `.${leafOf(path)}.lock`);
}
