import { closeSync, realpathSync, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import {
  type OpenFile,
  openRegularFileSync,
  readWholeSync,
  realPathOfSync,
  type SeenFile,
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

/**
 * Reads the documents of one store, for one sweep or one call. A document that is a symlink is read only if its real
 * path is inside the real path of the store or of its `.fibers`; with `follow`, any target is read.
 */
export class DocumentReader {
  readonly #root: string;
  /** The path of the store's `.fibers`. */
  readonly #base: string;
  readonly #follow: boolean;
  /** The real folders that hold documents of the store, each with `/` at its end. */
  #inside: string[] | null = null;
  #real_base: string | null = null;

  constructor(root: string, follow: boolean) {
    this.#root = root;
    this.#base = join(root, FIBERS_FOLDER);
    this.#follow = follow;
  }

  /**
   * Throws `store_unavailable` for a file that may not or cannot be read as a document, and the system error. `seen` is
   * what lay at the path a moment ago, for a caller that has looked.
   */
  read(path: string, seen?: SeenFile): DocumentFile {
    const open = () => openRegularFileSync(path, { seen });
    return this.#use(path, open, (file, real_path) => {
      const stat = file.stats;
      if (stat.size > MAX_DOCUMENT_BYTES) throw unusable(path, tooLarge(stat.size));
      const is_linked = stat.nlink > 1 || !this.#isAt(path, real_path);
      return { bytes: readWholeSync(path, file, MAX_DOCUMENT_BYTES), stat, real_path, is_linked };
    });
  }

  /** The real path of a document, without reading it; throws as `read`. */
  realPath(path: string): string {
    const open = () => openRegularFileSync(path);
    return this.#use(path, open, (_file, real_path) => real_path);
  }

  #use<T>(path: string, open: () => OpenFile, use: (file: OpenFile, real_path: string) => T): T {
    try {
      const file = open();
      try {
        const real_path = realPathOfSync(path, file);
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

  /** True if only the path of the store itself leads over links. */
  #isAt(path: string, real_path: string): boolean {
    this.#real_base ??= realFolder(this.#base)[0] ?? this.#base;
    return real_path === this.#real_base + path.slice(this.#base.length);
  }

  #isInside(real_path: string): boolean {
    this.#inside ??= [this.#root, this.#base]
      .flatMap(realFolder)
      .map((folder) => (folder.endsWith(sep) ? folder : folder + sep));
    return this.#inside.some((folder) => real_path.startsWith(folder));
  }
}

/** The refusal of an existing file that cannot be used as a document. */
export function unusable(path: string, why: string, cause?: unknown): CodedError {
  return new CodedError('store_unavailable', `${path} cannot be used: ${why}`, { cause, details: { path } });
}

function leadsOut(root: string, real_path: string): string {
  return `it is a link that leads out of its store, to ${real_path}; remove the link, or allow this store to follow links with {"path": ${JSON.stringify(root)}, "follow": true} in stores.json`;
}

function realFolder(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

/** The error sentence of an unreadable document, the same from every reader. */
export function unreadable(error: unknown): string {
  return `the document cannot be read: ${messageOf(error)}`;
}
