import { closeSync, lstatSync, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import { foreignMountsOf, KnownMounts } from '../platform/foreign-mounts.ts';
import {
  type OpenFile,
  openRegularFileSync,
  readWholeSync,
  realPathOfSync,
} from '../platform/regular-file.ts';
import { MAX_DOCUMENT_BYTES, tooLarge } from './document.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';

/** A document read from one open file, so that the checks apply to the file that is read. */
export type DocumentFile = {
  bytes: Buffer;
  stat: Stats;
  /** The real path of the file; writes go there. */
  real_path: string;
  /** The path is a link, or the file has other names too. */
  is_linked: boolean;
};

/** Which files outside the folders of a store its documents may be. */
export type Reach = {
  /** Whether links out of the store are followed. */
  follow: boolean;
  /** Mounts of other machines that may be entered, as `proveStore` found them; `all` for a caller that may wait. */
  answering: readonly string[] | 'all';
};

/** What lies at the path of a document, or at the end of the link there: where, and what was seen of it. */
type FoundFile = { at: string; stat: Stats };

/**
 * Reads the documents of one store, for one sweep or one call. A document that is a symlink is read only if its real
 * path is inside the real path of the store or of its `.fibers`; with `follow`, any target is read. Nothing is looked at on
 * a mount of another machine that is not known to answer.
 */
export class DocumentReader {
  readonly #root: string;
  /** The path of the store's `.fibers`. */
  readonly #base: string;
  readonly #follow: boolean;
  readonly #mounts: KnownMounts;
  /** The real folders that hold documents of the store, each with `/` at its end. */
  #inside: string[] | null = null;
  #real_base: string | null = null;

  constructor(root: string, { follow, answering }: Reach) {
    this.#root = root;
    this.#base = join(root, FIBERS_FOLDER);
    this.#follow = follow;
    const ownAmong = (mounts: readonly string[]) => {
      const own = foreignMountsOf([root, this.#base], { anywhere: false, answering: mounts });
      return mounts.filter((mount) => own.includes(mount));
    };
    // What leads out of a store is not even looked at on the disk of another machine.
    this.#mounts = new KnownMounts(follow || answering === 'all' ? answering : ownAmong(answering));
  }

  /** Throws `store_unavailable` for a path whose folders are no links, on a disk that may not be asked. */
  requireOpen(path: string): void {
    const closed = this.#mounts.closedAt(this.#real + path.slice(this.#base.length));
    if (closed !== null) throw silentDisk(path, closed);
  }

  /** Whether a file lies at a path of the store, or a link to what could be one. Throws as `requireOpen`. */
  isThere(path: string): boolean {
    if (!this.isWithin(path)) return false;
    this.requireOpen(path);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() !== true) return stat?.isFile() === true;
    const { kind } = this.#mounts.follow(path);
    return kind === 'file' || kind === 'elsewhere';
  }

  /** Whether all folders between `.fibers` and a path are there and none is a link. Throws as `requireOpen`. */
  isWithin(path: string): boolean {
    return this.#obstacle(path) === null;
  }

  /** Whether a folder between `.fibers` and a path is a link. Throws as `requireOpen`. */
  isBehindLink(path: string): boolean {
    return this.#obstacle(path) === 'link';
  }

  /** What keeps a path from lying in folders of the store. */
  #obstacle(path: string): 'link' | 'no folder' | null {
    const end = path.lastIndexOf(sep);
    this.requireOpen(this.#base);
    for (let at = this.#base.length; at < end; ) {
      const next = path.indexOf(sep, at + 1);
      at = next === -1 ? end : next;
      const folder = path.slice(0, at);
      this.requireOpen(folder);
      const stat = lstatSync(folder, { throwIfNoEntry: false });
      if (stat?.isDirectory() !== true) return stat?.isSymbolicLink() === true ? 'link' : 'no folder';
    }
    return null;
  }

  /** What lies at the path of a document; null for nothing. Throws as `read`. */
  find(path: string): FoundFile | null {
    return this.isWithin(path) ? this.findIn(path) : null;
  }

  /** `find` for a path of which `isWithin` is known. */
  findIn(path: string): FoundFile | null {
    this.requireOpen(path);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isSymbolicLink()) return { at: path, stat };
    const end = this.#mounts.follow(path);
    switch (end.kind) {
      case 'missing':
        throw unusable(path, 'it is a link to a file that does not exist');
      case 'unreadable':
        throw unusable(path, `its link cannot be followed (${end.detail})`);
      case 'elsewhere': {
        if (!this.#follow && !this.#isInside(end.path)) throw unusable(path, leadsOut(this.#root, end.path));
        throw silentDisk(path, this.#mounts.closedAt(end.path) ?? end.path);
      }
      default:
        return { at: end.real, stat: lstatSync(end.real) };
    }
  }

  /**
   * Throws `store_unavailable` for a file that may not or cannot be read as a document, and the system error. `found` is
   * what `find` has told of the path, or that its folder lists it as a file.
   */
  read(path: string, found: FoundFile | 'a file' = this.#require(path)): DocumentFile {
    return this.#use(path, found, (file, real_path) => {
      const stat = file.stats;
      if (stat.size > MAX_DOCUMENT_BYTES) throw unusable(path, tooLarge(stat.size));
      const is_linked = stat.nlink > 1 || real_path !== this.#real + path.slice(this.#base.length);
      return { bytes: readWholeSync(path, file, MAX_DOCUMENT_BYTES), stat, real_path, is_linked };
    });
  }

  /** The real path of a document, without reading it; throws as `read`. */
  realPath(path: string): string {
    return this.#use(path, this.#require(path), (_file, real_path) => real_path);
  }

  #require(path: string): FoundFile {
    const found = this.find(path);
    if (found !== null) return found;
    throw Object.assign(new Error(`ENOENT: no such file or directory, lstat '${path}'`), {
      ...{ code: 'ENOENT', syscall: 'lstat', path },
    });
  }

  #use<T>(path: string, found: FoundFile | 'a file', use: (file: OpenFile, real_path: string) => T): T {
    if (found === 'a file') this.requireOpen(path);
    try {
      const [at, seen] = found === 'a file' ? [path, found] : [found.at, found.stat];
      const file = openRegularFileSync(at, { seen, follow: false });
      try {
        const real_path = realPathOfSync(at, file);
        if (!this.#follow && !this.#isInside(real_path))
          throw unusable(path, leadsOut(this.#root, real_path));
        return use(file, real_path);
      } finally {
        closeSync(file.fd);
      }
    } catch (error) {
      if (!(error instanceof CodedError) || error.code === 'store_unavailable') throw error;
      throw new CodedError('store_unavailable', error.message, { cause: error, details: { path } });
    }
  }

  /** The real path of `.fibers`. */
  get #real(): string {
    this.#real_base ??= this.#realFolder(this.#base)[0] ?? this.#base;
    return this.#real_base;
  }

  #isInside(real_path: string): boolean {
    this.#inside ??= [this.#root, this.#base]
      .flatMap((folder) => this.#realFolder(folder))
      .map((folder) => (folder.endsWith(sep) ? folder : folder + sep));
    return this.#inside.some((folder) => real_path.startsWith(folder));
  }

  #realFolder(folder: string): string[] {
    const end = this.#mounts.follow(folder);
    if (end.kind === 'elsewhere') throw silentDisk(folder, this.#mounts.closedAt(end.path) ?? end.path);
    return 'real' in end ? [end.real] : [];
  }
}

/** Whether something could not be looked at because a disk does not answer, which says nothing of it. */
export function isSilentDisk(error: unknown): boolean {
  return isCoded(error, 'store_unavailable') && error.details.silent !== undefined;
}

function silentDisk(path: string, mount: string): CodedError {
  return new CodedError(
    'store_unavailable',
    `${path} cannot be looked at: the disk ${mount} does not answer; mount it again`,
    { details: { path, silent: mount } },
  );
}

/** The refusal of an existing file that cannot be used as a document. */
export function unusable(path: string, why: string, cause?: unknown): CodedError {
  return new CodedError('store_unavailable', `${path} cannot be used: ${why}`, { cause, details: { path } });
}

function leadsOut(root: string, real_path: string): string {
  return `it is a link that leads out of its store, to ${real_path}; remove the link, or allow this store to follow links with {"path": ${JSON.stringify(root)}, "follow": true} in stores.json`;
}

/** The error sentence of an unreadable document, the same from every reader. */
export function unreadable(error: unknown): string {
  return `the document cannot be read: ${messageOf(error)}`;
}
