import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { unpack } from 'msgpackr';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import { SweepFindings } from './sweep-findings.ts';
import { encodeResult, type Reading, type SweepResult } from './sweep-result.ts';
import { isSettled, NO_STAMP, sameStamp, stampOf } from './sweep-stamp.ts';
import { decodeTable, encodeTable, type KnownFolder } from './sweep-table.ts';
import { type DocumentSweepOptions, SweptDocuments } from './swept-documents.ts';

export type SweepOptions = DocumentSweepOptions & {
  /** Looks at no more than so many new documents and folders; what is left is named in `unread`. Default: all. */
  most_new?: number;
  /** Whether new folders are listed beyond that, so that each document is named. Default: false. */
  name_all?: boolean;
};

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

/** The folders of one sweep, walked from the root of the store. */
class Sweep {
  readonly #root: string;
  readonly #base: string;
  readonly #now: number;
  readonly #name_all: boolean;
  readonly #follow: boolean;
  readonly #found: SweepFindings;
  readonly #documents: SweptDocuments;
  #folders: KnownFolder[] = [];

  constructor(root: string, now: number, options: SweepOptions) {
    const { most_new = Number.POSITIVE_INFINITY, name_all = false, follow = false } = options;
    this.#root = root;
    this.#base = join(root, FIBERS_FOLDER);
    this.#now = now;
    this.#name_all = name_all;
    this.#follow = follow;
    this.#found = new SweepFindings(root, most_new);
    this.#documents = new SweptDocuments(root, now, this.#found, options);
  }

  read(paths: readonly string[]): Reading {
    if (!isDirectory(this.#base)) throw storeUnavailable(this.#root, new Error('it is gone'));
    for (const path of paths) {
      if (path.endsWith('/')) this.#walk(path.slice(0, -1), new Map(), new Map());
      else this.#documents.look(path);
    }
    return { ...this.#result(), folders: this.#folders.map(({ path }) => this.#found.absolute(path)) };
  }

  run(bytes: Uint8Array): SweepResult {
    const before = decodeTable(bytes, this.#root);
    this.#requireStore();
    // The rule for symlinks has changed: every symlink is checked again.
    const same_rule = before.follow === this.#follow;
    for (const row of before.documents)
      this.#documents.know(same_rule ? row : { ...row, settled: false, digest: '' });
    const known = new Map(before.folders.map((row) => [row.path, row]));
    this.#walk('', known, groupByParent(before.folders));
    this.#documents.dropUnseen();
    const { moved, changed, removed, unread } = this.#found;
    const same = !moved && bytes.length > 0;
    const same_folders =
      this.#folders.length === known.size &&
      this.#folders.every(({ path }) => known.has(path)) &&
      !unread.some(isFolder);
    return {
      ...this.#result(same ? bytes : null),
      unchanged: changed.length === 0 && removed.length === 0,
      removed,
      folders: same_folders ? null : this.#folders.map(({ path }) => this.#found.absolute(path)),
    };
  }

  #result(same_table: Uint8Array | null = null): Omit<Reading, 'folders'> {
    const documents = this.#documents.all();
    const { changed, errors, unread } = this.#found;
    return {
      table:
        same_table ??
        encodeTable({ root: this.#root, follow: this.#follow, folders: this.#folders, documents }),
      ...{ changed, errors, unread },
      unwatchable: documents
        .filter(({ linked, error }) => linked || error !== '')
        .map(({ path }) => this.#found.absolute(path)),
    };
  }

  #requireStore(): void {
    try {
      readdirSync(this.#base);
    } catch (error) {
      throw storeUnavailable(this.#root, error);
    }
  }

  #walk(path: string, known: Map<string, KnownFolder>, childrenOf: Map<string, KnownFolder[]>): void {
    const before = known.get(path);
    if (before === undefined && path !== '' && !this.#name_all && this.#found.isFull) {
      this.#found.unread.push(`${path}/`);
      return;
    }
    const absolute = this.#found.absolute(path);
    let stat: Stats | undefined;
    try {
      stat = statSync(absolute, { throwIfNoEntry: false });
    } catch (error) {
      this.#keepUnreadable(path, before, error, childrenOf);
      return;
    }
    if (stat === undefined || !stat.isDirectory()) {
      if (path === '') throw storeUnavailable(this.#root, new Error('it is gone'));
      this.#found.moved = true;
      return;
    }
    if (before?.settled && sameStamp(before, stat)) {
      this.#folders.push(before);
      this.#sweepKnown(path, known, childrenOf);
      return;
    }
    let entries: Dirent[];
    try {
      entries = readdirSync(absolute, { withFileTypes: true });
    } catch (error) {
      if (systemCode(error) === 'ENOENT') {
        this.#found.moved = true;
        return;
      }
      this.#keepUnreadable(path, before, error, childrenOf);
      return;
    }
    if (before === undefined) this.#found.countNew();
    const settled = isSettled(stat, this.#now);
    this.#folders.push({ path, ...stampOf(stat), settled });
    if (before === undefined || !before.settled !== !settled || !sameStamp(before, stat))
      this.#found.moved = true;
    const own = path === '' ? null : `${path.slice(path.lastIndexOf('/') + 1)}.md`;
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name.includes('\uFFFD')) this.#found.fail(child, 'its name is not UTF-8 text; rename it');
        else this.#walk(child, known, childrenOf);
      } else if (own === null ? entry.name.endsWith('.md') : entry.name === own) this.#documents.look(child);
    }
  }

  /** A folder whose listing did not change has the known documents and subfolders. */
  #sweepKnown(path: string, known: Map<string, KnownFolder>, childrenOf: Map<string, KnownFolder[]>): void {
    if (path === '') {
      this.#documents.lookAtRoot();
    } else {
      this.#documents.lookIfKnown(`${path}/${path.slice(path.lastIndexOf('/') + 1)}.md`);
    }
    for (const child of childrenOf.get(path) ?? []) this.#walk(child.path, known, childrenOf);
  }

  /** A folder that cannot be read is reported as an error; known entries below it are kept. */
  #keepUnreadable(
    path: string,
    before: KnownFolder | undefined,
    error: unknown,
    childrenOf: Map<string, KnownFolder[]>,
  ): void {
    this.#found.fail(path, `the folder cannot be read: ${messageOf(error)}`);
    if (before === undefined || before.settled) this.#found.moved = true;
    this.#folders.push({ path, ...NO_STAMP, settled: false });
    this.#documents.keepBelow(path);
    const keepBelow = (folder: string): void => {
      for (const child of childrenOf.get(folder) ?? []) {
        this.#folders.push({ ...child, settled: false });
        keepBelow(child.path);
      }
    };
    keepBelow(path);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFolder(unread: string): boolean {
  return unread.endsWith('/');
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
