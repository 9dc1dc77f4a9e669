import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { pack, unpack } from 'msgpackr';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { freeBytes } from '../base/free-bytes.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { type DocumentPlace, digestOf, parseRow, unreadableDocument } from './document.ts';
import { type DocumentFile, DocumentReader } from './document-reader.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import {
  decodeTable,
  encodeTable,
  joinParts,
  joinTables,
  type KnownDocument,
  type KnownFolder,
  type Stamp,
  splitParts,
} from './sweep-table.ts';

/** The changes of a store between two sweeps. */
export type SweepResult = {
  /** Opaque; input of the next sweep of the same store. */
  table: Uint8Array;
  /** Nothing was added, changed or removed. */
  unchanged: boolean;
  /** Rows of new and changed documents, without bodies. A row with `error` must not be dispatched. */
  changed: FiberDocument[];
  /** Absolute paths of documents that are gone. */
  removed: string[];
  /** Paths that could not be read, reported by every sweep while that lasts; rows below them keep their last values. */
  errors: SweepError[];
  /**
   * Paths below `.fibers` of new documents, and with a `/` at the end of new folders, that are left for
   * `readDocuments`; they are not in the table.
   */
  unread: string[];
  /** Absolute paths of all folders if any came or went since the last sweep, for watching; else null. */
  folders: string[] | null;
  /** Absolute paths of the documents whose changes a watch of their folder may miss. */
  unwatchable: string[];
};
export type SweepError = { path: string; message: string };
/** What `readDocuments` has read: `table` is for `addReadings`, `folders` are those below folders that were asked for. */
export type Reading = Omit<SweepResult, 'unchanged' | 'removed' | 'folders'> & { folders: string[] };

export type SweepOptions = {
  /** Looks at no more than so many new documents and folders; what is left is named in `unread`. Default: all. */
  most_new?: number;
  /** Whether new folders are listed beyond that, so that each document is named. Default: false. */
  name_all?: boolean;
  /** Whether symlinks out of the store are read. Default: false. */
  follow?: boolean;
  /** Called with the token of a document before it is parsed, and with null afterwards. */
  onStep?: (token: string | null) => void;
  /** Tokens of documents whose parse exceeded its time limit: they are listed with an error and not parsed. */
  set_aside?: readonly string[];
  parse?: typeof parseRow;
};

/** A change this recent may be followed by one with the same timestamp. */
const SETTLING_MS = 2_000;

/**
 * One synchronous sweep of a store, for a pool thread: stats every known folder and document, lists folders that
 * changed, reads documents that changed. `table` is the one of the previous sweep, or empty. Returns bytes for
 * `decodeSweep`. Symlinked folders are not followed, since they could loop; a symlinked document is read. Hidden names
 * are skipped. Throws `store_unavailable` if the store's root or its `.fibers` cannot be read.
 */
export function sweepStore(
  root: string,
  table: Uint8Array,
  now: number = Date.now(),
  options: SweepOptions = {},
): Uint8Array {
  return encodeResult(new Sweep(root, now, options).run(table));
}

/**
 * Reads what a sweep left unread, for a pool thread, so that several threads share a first listing. `paths` is msgpack
 * of paths below `.fibers`; of one that ends in `/`, the documents below that folder are read, with `most_new` as
 * for a sweep. Returns bytes for `decodeReading`.
 */
export function readDocuments(
  root: string,
  paths: Uint8Array,
  now: number = Date.now(),
  options: SweepOptions = {},
): Uint8Array {
  return encodeResult(new Sweep(root, now, options).read(unpack(paths) as string[]));
}

/**
 * The large parts follow the rest as they are, so that nothing is copied through a growing buffer. Rows travel as JSON:
 * parsed from it, they take two thirds of the memory of rows from msgpack.
 */
function encodeResult({ changed, table, ...rest }: Reading | SweepResult): Uint8Array {
  return joinParts([pack(rest), table, Buffer.from(JSON.stringify(changed))]);
}

function decodeResult<T extends Reading | SweepResult>(bytes: Uint8Array): T {
  const [rest, table, changed] = splitParts(bytes);
  if (rest === undefined || table === undefined || changed === undefined)
    throw new CodedError('internal', 'the result of a sweep is cut short');
  const result = {
    ...unpack(rest),
    // A copy: a view would keep the much larger text of the rows until all parts of a listing are there.
    table: new Uint8Array(table),
    changed: JSON.parse(Buffer.from(changed.buffer, changed.byteOffset, changed.length).toString()),
  };
  freeBytes(bytes);
  return result;
}

/** Decodes the result of `readDocuments`, and frees its bytes. */
export function decodeReading(bytes: Uint8Array): Reading {
  return decodeResult<Reading>(bytes);
}

/** Encodes `paths` for `readDocuments`. */
export function encodePaths(paths: readonly string[]): Uint8Array {
  return Uint8Array.from(pack(paths));
}

/** The path below `.fibers` of the document of a token. */
export function pathOfToken(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}

/** Merges a sweep's result with the readings of what it left unread. */
export function addReadings(result: SweepResult, readings: readonly Reading[]): SweepResult {
  const parts = [result, ...readings];
  const changed = parts.flatMap((part) => part.changed);
  return {
    ...{ changed, removed: result.removed, unread: [] },
    folders: result.folders && parts.flatMap((part) => part.folders ?? []),
    unchanged: changed.length === 0 && result.removed.length === 0,
    table: joinTables(parts.map((part) => part.table)),
    errors: parts.flatMap((part) => part.errors),
    unwatchable: parts.flatMap((part) => part.unwatchable),
  };
}

/** Decodes the result of `sweepStore`, and frees its bytes. */
export function decodeSweep(bytes: Uint8Array): SweepResult {
  return decodeResult<SweepResult>(bytes);
}

class Sweep {
  #root: string;
  #base: string;
  #now: number;
  #folders: KnownFolder[] = [];
  #documents = new Map<string, KnownDocument>();
  #moved = false;
  #changed: FiberDocument[] = [];
  #removed: string[] = [];
  #errors: SweepError[] = [];
  #unread: string[] = [];
  #most_new: number;
  #new = 0;
  #name_all: boolean;
  #follow: boolean;
  #reader: DocumentReader;
  #parse: typeof parseRow;
  #onStep: (token: string | null) => void;
  #set_aside: Set<string>;

  constructor(
    root: string,
    now: number,
    {
      most_new = Number.POSITIVE_INFINITY,
      name_all = false,
      follow = false,
      onStep = () => {},
      set_aside = [],
      parse = parseRow,
    }: SweepOptions,
  ) {
    this.#parse = parse;
    this.#onStep = onStep;
    this.#set_aside = new Set(set_aside);
    this.#root = root;
    this.#follow = follow;
    this.#reader = new DocumentReader(root, follow);
    this.#base = join(root, FIBERS_FOLDER);
    this.#now = now;
    this.#most_new = most_new;
    this.#name_all = name_all;
  }

  read(paths: readonly string[]): Reading {
    if (!isDirectory(this.#base)) throw storeUnavailable(this.#root, new Error('it is gone'));
    const seen = new Set<string>();
    for (const path of paths) {
      if (path.endsWith('/')) this.#walk(path.slice(0, -1), new Map(), new Map(), seen);
      else this.#document(path, seen);
    }
    return { ...this.#found(), folders: this.#folders.map(({ path }) => this.#absolute(path)) };
  }

  run(bytes: Uint8Array): SweepResult {
    const before = decodeTable(bytes, this.#root);
    this.#requireStore();
    // The rule for symlinks has changed: every symlink is checked again.
    const same_rule = before.follow === this.#follow;
    for (const row of before.documents)
      this.#documents.set(row.path, same_rule ? row : { ...row, settled: false, digest: '' });
    const known = new Map(before.folders.map((row) => [row.path, row]));
    const childrenOf = groupByParent(before.folders);
    const seen = new Set<string>();
    this.#walk('', known, childrenOf, seen);
    for (const [path, row] of this.#documents) if (!seen.has(path)) this.#drop(path, row);
    const same = !this.#moved && bytes.length > 0;
    const same_folders =
      this.#folders.length === known.size &&
      this.#folders.every(({ path }) => known.has(path)) &&
      !this.#unread.some(isFolder);
    return {
      ...this.#found(same ? bytes : null),
      unchanged: this.#changed.length === 0 && this.#removed.length === 0,
      removed: this.#removed,
      folders: same_folders ? null : this.#folders.map(({ path }) => this.#absolute(path)),
    };
  }

  #found(same_table: Uint8Array | null = null): Omit<Reading, 'folders'> {
    const documents = [...this.#documents.values()];
    return {
      table:
        same_table ??
        encodeTable({ root: this.#root, follow: this.#follow, folders: this.#folders, documents }),
      changed: this.#changed,
      errors: this.#errors,
      unread: this.#unread,
      unwatchable: documents
        .filter(({ linked, error }) => linked || error !== '')
        .map(({ path }) => this.#absolute(path)),
    };
  }

  #requireStore(): void {
    try {
      readdirSync(this.#base);
    } catch (error) {
      throw storeUnavailable(this.#root, error);
    }
  }

  #walk(
    path: string,
    known: Map<string, KnownFolder>,
    childrenOf: Map<string, KnownFolder[]>,
    seen: Set<string>,
  ): void {
    const before = known.get(path);
    if (before === undefined && path !== '' && !this.#name_all && this.#isFull()) {
      this.#unread.push(`${path}/`);
      return;
    }
    const absolute = this.#absolute(path);
    let stat: Stats | undefined;
    try {
      stat = statSync(absolute, { throwIfNoEntry: false });
    } catch (error) {
      this.#keepUnreadable(path, before, error, childrenOf, seen);
      return;
    }
    if (stat === undefined || !stat.isDirectory()) {
      if (path === '') throw storeUnavailable(this.#root, new Error('it is gone'));
      this.#moved = true;
      return;
    }
    if (before?.settled && sameStamp(before, stat)) {
      this.#folders.push(before);
      this.#sweepKnown(path, known, childrenOf, seen);
      return;
    }
    let entries: Dirent[];
    try {
      entries = readdirSync(absolute, { withFileTypes: true });
    } catch (error) {
      if (systemCode(error) === 'ENOENT') {
        this.#moved = true;
        return;
      }
      this.#keepUnreadable(path, before, error, childrenOf, seen);
      return;
    }
    if (before === undefined) this.#new += 1;
    const settled = this.#isSettled(stat);
    this.#folders.push({ path, ...stampOf(stat), settled });
    if (before === undefined || !before.settled !== !settled || !sameStamp(before, stat)) this.#moved = true;
    const own = path === '' ? null : `${path.slice(path.lastIndexOf('/') + 1)}.md`;
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name.includes('\uFFFD')) this.#fail(child, 'its name is not UTF-8 text; rename it');
        else this.#walk(child, known, childrenOf, seen);
      } else if (own === null ? entry.name.endsWith('.md') : entry.name === own) this.#document(child, seen);
    }
  }

  /** A folder whose listing did not change has the known documents and subfolders. */
  #sweepKnown(
    path: string,
    known: Map<string, KnownFolder>,
    childrenOf: Map<string, KnownFolder[]>,
    seen: Set<string>,
  ): void {
    if (path === '') {
      for (const document of [...this.#documents.keys()]) {
        if (!document.includes('/')) this.#document(document, seen);
      }
    } else {
      const document = `${path}/${path.slice(path.lastIndexOf('/') + 1)}.md`;
      if (this.#documents.has(document)) this.#document(document, seen);
    }
    for (const child of childrenOf.get(path) ?? []) this.#walk(child.path, known, childrenOf, seen);
  }

  /** A folder that cannot be read is reported as an error; known entries below it are kept. */
  #keepUnreadable(
    path: string,
    before: KnownFolder | undefined,
    error: unknown,
    childrenOf: Map<string, KnownFolder[]>,
    seen: Set<string>,
  ): void {
    this.#fail(path, `the folder cannot be read: ${messageOf(error)}`);
    if (before === undefined || before.settled) this.#moved = true;
    this.#folders.push({ path, ...NO_STAMP, settled: false });
    for (const document of this.#documents.keys()) {
      if (path === '' || document.startsWith(`${path}/`)) seen.add(document);
    }
    const keepBelow = (folder: string): void => {
      for (const child of childrenOf.get(folder) ?? []) {
        this.#folders.push({ ...child, settled: false });
        keepBelow(child.path);
      }
    };
    keepBelow(path);
  }

  #isFull(): boolean {
    return this.#new >= this.#most_new;
  }

  #document(path: string, seen: Set<string>): void {
    const before = this.#documents.get(path);
    if (before === undefined && this.#isFull()) {
      this.#unread.push(path);
      return;
    }
    if (before === undefined) this.#new += 1;
    const absolute = this.#absolute(path);
    const place: DocumentPlace = { store: this.#root, path: absolute, relativePath: path };
    let stat: Stats | undefined;
    try {
      stat = statSync(absolute, { throwIfNoEntry: false });
      if (stat === undefined) {
        if (lstatSync(absolute, { throwIfNoEntry: false }) === undefined) return; // gone: dropped at the end
        throw new Error('it is a link to a file that does not exist');
      }
      if (before?.settled && before.error === '' && sameStamp(before, stat)) {
        seen.add(path);
        return;
      }
      if (this.#set_aside.has(tokenOf(path, stat))) throw new Error(SET_ASIDE);
      const file = this.#reader.read(absolute, stat);
      seen.add(path);
      this.#took(path, file, before, place);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      seen.add(path);
      const message = unreadable(error);
      this.#fail(path, message);
      if (before?.error === message) return;
      this.#moved = true;
      const row = { path, ...NO_STAMP, settled: false, linked: false, digest: '', error: message };
      this.#documents.set(path, row);
      this.#changed.push(unreadableDocument(place, message));
    }
  }

  #took(
    path: string,
    { bytes, stat, is_linked }: DocumentFile,
    before: KnownDocument | undefined,
    place: DocumentPlace,
  ): void {
    const settled = this.#isSettled(stat);
    const known = { path, ...stampOf(stat), settled, linked: is_linked, error: '' };
    this.#moved = true;
    if (
      before !== undefined &&
      before.error === '' &&
      before.digest !== '' &&
      before.digest === digestOf(bytes)
    ) {
      this.#documents.set(path, { ...known, digest: settled ? '' : before.digest });
      return;
    }
    const row = this.#parseTimed(tokenOf(path, stat), bytes, place);
    this.#documents.set(path, { ...known, digest: settled ? '' : row.digest });
    this.#changed.push(row);
  }

  #parseTimed(token: string, bytes: Buffer, place: DocumentPlace): FiberDocument {
    this.#onStep(token);
    try {
      return this.#parse(bytes, place);
    } finally {
      this.#onStep(null);
    }
  }

  #drop(path: string, row: KnownDocument): void {
    this.#documents.delete(row.path);
    this.#removed.push(this.#absolute(path));
    this.#moved = true;
  }

  #fail(path: string, message: string): void {
    this.#errors.push({ path: this.#absolute(path), message });
  }

  #isSettled(stat: Stats): boolean {
    return this.#now - Math.max(stat.mtimeMs, stat.ctimeMs) > SETTLING_MS;
  }

  #absolute(path: string): string {
    return path === '' ? this.#base : `${this.#base}/${path}`;
  }
}

/** The error sentence of an unreadable document, the same from every reader. */
export function unreadable(error: unknown): string {
  return `the document cannot be read: ${messageOf(error)}`;
}

const SET_ASIDE =
  'parsing it exceeded the time limit and was stopped; simplify its frontmatter (it is tried again when it changes, and from time to time)';

/** A token for the current state of a document; each change gives another token. */
function tokenOf(path: string, { mtimeMs, ctimeMs, size, ino }: Stats): string {
  return `${mtimeMs}:${ctimeMs}:${size}:${ino} ${path}`;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFolder(unread: string): boolean {
  return unread.endsWith('/');
}

const NO_STAMP: Stamp = { mtimeMs: -1, ctimeMs: -1, size: -1, ino: -1 };

function stampOf(stat: Stats): Stamp {
  return { mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, size: stat.size, ino: stat.ino };
}

function sameStamp(known: Stamp, stat: Stats): boolean {
  return (
    known.mtimeMs === stat.mtimeMs &&
    known.ctimeMs === stat.ctimeMs &&
    known.size === stat.size &&
    known.ino === stat.ino
  );
}

function groupByParent(folders: KnownFolder[]): Map<string, KnownFolder[]> {
  const groups = new Map<string, KnownFolder[]>();
  for (const folder of folders) {
    if (folder.path === '') continue;
    const slash = folder.path.lastIndexOf('/');
    const parent = slash === -1 ? '' : folder.path.slice(0, slash);
    const group = groups.get(parent);
    if (group === undefined) groups.set(parent, [folder]);
    else group.push(folder);
  }
  return groups;
}

function storeUnavailable(root: string, error: unknown): CodedError {
  return new CodedError(
    'store_unavailable',
    `the store ${root} cannot be read (${messageOf(error)}); make it with "svc fiber init ${root}" or fix its path`,
    { cause: error },
  );
}
