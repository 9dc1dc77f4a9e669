import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { unpack } from 'msgpackr';
import { messageOf, systemCode } from '../base/errors.ts';
import { isSilentDisk } from './document-reader.ts';
import { storeAway, storeUnavailable } from './store-away.ts';
import { SweepFindings } from './sweep-findings.ts';
import { encodeResult, type Reading, type SweepResult } from './sweep-result.ts';
import {
  decodeTable,
  encodeTable,
  isSettled,
  type KnownFolder,
  NO_STAMP,
  pathOf,
  type SweepTable,
  stampOf,
  type TableRow,
} from './sweep-table.ts';
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
 * `decodeSweep`. Symlinked folders are not followed, since they could loop; a symlinked document is read where `DocumentReader` allows it. Hidden names
 * are skipped. Throws `store_unavailable` if the store's root or its `.fibers` cannot be read.
 */
export function sweepStore(
  root: string,
  table: Uint8Array,
  now: number = Date.now(),
  options: SweepOptions = {},
): Uint8Array {
  return encodeResult(new Sweep(root, table, now, options).run());
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
  const sweep = new Sweep(root, new Uint8Array(0), now, options);
  return encodeResult(sweep.read(unpack(paths) as string[]));
}

/** The folders of one sweep, walked from the root of the store. */
class Sweep {
  readonly #root: string;
  readonly #now: number;
  readonly #name_all: boolean;
  readonly #follow: boolean;
  readonly #found: SweepFindings;
  readonly #documents: SweptDocuments;
  readonly #goesOn: () => void;
  readonly #before: SweepTable;
  /** The numbers of the folders of the last sweep. */
  readonly #known: ReadonlyMap<string, number>;
  readonly #children_of: ReadonlyMap<string, readonly number[]>;
  readonly #folders: TableRow<KnownFolder>[] = [];
  /** Folders on disks that do not answer: to begin a watch there could wait for ever. */
  readonly #silent: string[] = [];

  constructor(root: string, table: Uint8Array, now: number, options: SweepOptions) {
    const { most_new = Number.POSITIVE_INFINITY, name_all = false, follow = false, onStep } = options;
    this.#goesOn = () => onStep?.(null);
    this.#root = root;
    this.#now = now;
    this.#name_all = name_all;
    this.#follow = follow;
    this.#found = new SweepFindings(root, most_new);
    this.#before = decodeTable(table, root);
    // The rule for symlinks has changed: every symlink is checked again.
    if (this.#before.follow !== follow) this.#before.documents.forgetReadings();
    this.#documents = new SweptDocuments(root, now, this.#found, this.#before.documents, options);
    const { paths } = this.#before.folders;
    this.#known = new Map(paths.map((path, row) => [path, row]));
    this.#children_of = groupByParent(paths);
  }

  read(paths: readonly string[]): Reading {
    this.#requireStore();
    for (const path of paths) {
      const folder = path.endsWith('/') ? path.slice(0, -1) : null;
      if (!this.#documents.isWithin(folder ?? path)) continue;
      if (folder !== null) this.#walk(folder);
      else this.#documents.look(path);
    }
    return { ...this.#result(), table: this.#newTable({ packed: false }), folders: this.#folderPaths() };
  }

  run(): SweepResult {
    this.#requireStore();
    this.#walk('');
    this.#documents.dropUnseen();
    const { moved, changed, removed, unread } = this.#found;
    const all = unread.length === 0;
    const same = !moved && all && this.#before.packed;
    const same_folders =
      this.#folders.length === this.#known.size &&
      this.#folders.every((row) => typeof row === 'number' || this.#known.has(row.path)) &&
      !unread.some(isFolder);
    return {
      ...this.#result(),
      table: same ? null : this.#newTable({ packed: all }),
      unchanged: changed.length === 0 && removed.length === 0,
      removed,
      folders: same_folders ? null : this.#folderPaths(),
    };
  }

  #folderPaths(): string[] {
    const all = this.#folders.map((row) => this.#found.absolute(pathOf(row, this.#before.folders)));
    const isSilent = (path: string) =>
      this.#silent.some((folder) => path === folder || path.startsWith(`${folder}/`));
    return this.#silent.length === 0 ? all : all.filter((path) => !isSilent(path));
  }

  /** A first listing is read in parts, and somebody waits for it: the next one packs what they made. */
  #newTable(how: { packed: boolean }): Uint8Array {
    const rows = { folders: this.#folders, documents: this.#documents.all() };
    return encodeTable(this.#before, { root: this.#root, follow: this.#follow, ...rows }, how);
  }

  #result(): Omit<Reading, 'folders' | 'table'> {
    const { changed, errors, unread } = this.#found;
    return { changed, errors, unread, unwatchable: this.#documents.unwatchable() };
  }

  #requireStore(): void {
    const away = storeAway(this.#root);
    if (away !== null) throw storeUnavailable(this.#root, away);
  }

  #walk(path: string): void {
    this.#goesOn();
    const before = this.#known.get(path);
    if (before === undefined && path !== '' && !this.#name_all && this.#found.isFull) {
      this.#found.unread.push(`${path}/`);
      return;
    }
    const known = this.#before.folders;
    const absolute = this.#found.absolute(path);
    let stat: Stats | undefined;
    try {
      this.#documents.requireOpen(absolute);
      stat = (path === '' ? statSync : lstatSync)(absolute, { throwIfNoEntry: false });
    } catch (error) {
      this.#keepUnreadable(path, error);
      return;
    }
    if (stat === undefined || !stat.isDirectory()) {
      if (path === '') throw storeUnavailable(this.#root, new Error('it is gone'));
      this.#found.moved = true;
      return;
    }
    const same = before !== undefined && known.hasStamp(before, stat);
    if (same && known.isSettled(before)) {
      this.#folders.push(before);
      this.#sweepKnown(path);
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
      this.#keepUnreadable(path, error);
      return;
    }
    if (before === undefined) this.#found.countNew();
    const settled = isSettled(stat, this.#now);
    this.#folders.push({ path, ...stampOf(stat), settled });
    if (!same || known.isSettled(before) !== settled) this.#found.moved = true;
    const own = path === '' ? null : `${path.slice(path.lastIndexOf('/') + 1)}.md`;
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name.includes('\uFFFD')) this.#found.fail(child, 'its name is not UTF-8 text; rename it');
        else this.#walk(child);
      } else if (own === null ? entry.name.endsWith('.md') : entry.name === own)
        this.#documents.look(child, { is_file: entry.isFile() });
    }
  }

  /** A folder whose listing did not change has the known documents and subfolders. */
  #sweepKnown(path: string): void {
    if (path === '') {
      this.#documents.lookAtRoot();
    } else {
      this.#documents.lookIfKnown(`${path}/${path.slice(path.lastIndexOf('/') + 1)}.md`);
    }
    for (const child of this.#children_of.get(path) ?? []) this.#walk(this.#before.folders.paths[child]!);
  }

  /** A folder that cannot be read is reported as an error; known entries below it are kept. */
  #keepUnreadable(path: string, error: unknown): void {
    const { folders } = this.#before;
    const before = this.#known.get(path);
    this.#found.fail(path, `the folder cannot be read: ${messageOf(error)}`);
    if (isSilentDisk(error)) this.#silent.push(this.#found.absolute(path));
    if (before === undefined || folders.isSettled(before)) this.#found.moved = true;
    this.#folders.push({ path, ...NO_STAMP, settled: false });
    this.#documents.keepBelow(path);
    const keepBelow = (folder: string): void => {
      for (const child of this.#children_of.get(folder) ?? []) {
        const kept = folders.paths[child]!;
        this.#folders.push({ path: kept, ...folders.stamp(child), settled: false });
        keepBelow(kept);
      }
    };
    keepBelow(path);
  }
}

function isFolder(unread: string): boolean {
  return unread.endsWith('/');
}

/** The numbers of the folders below each folder. */
function groupByParent(paths: readonly string[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  paths.forEach((path, row) => {
    if (path === '') return;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const group = groups.get(parent);
    if (group === undefined) groups.set(parent, [row]);
    else group.push(row);
  });
  return groups;
}
