import { statSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { readStores } from '../../config/path-lists.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';

/**
 * The stores to poll as `stores.json` lists them, read again only when the file moved. What cannot be used, and a file
 * that is away for a moment, leave the stores as they were: no slip of the pen takes a board away.
 */
export class StoresOnDisk {
  readonly #settings: Settings;
  readonly #logger: Logger;
  #roots: readonly string[];
  #followed: ReadonlySet<string> = new Set();
  #stamp: string | null = null;

  /** `roots` are those that were found when the daemon started. */
  constructor(settings: Settings, roots: readonly string[], logger: Logger) {
    this.#settings = settings;
    this.#roots = roots;
    this.#logger = logger;
    this.look();
  }

  get roots(): readonly string[] {
    return this.#roots;
  }

  /** Whether the documents of a store may be links out of it. */
  follows(root: string): boolean {
    return this.#followed.has(root);
  }

  /** Reads the list again where its file moved. */
  look(): void {
    if (this.#settings.stores !== null) return;
    const stamp = stampOf(operatorFilePaths(this.#settings).stores);
    if (stamp === null || stamp === this.#stamp) return;
    this.#stamp = stamp;
    try {
      const { paths, followed } = readStores(this.#settings);
      this.#take(paths, followed);
    } catch (error) {
      this.#logger.warn({ detail: messageOf(error) }, 'the list of stores is not used');
    }
  }

  /** Takes a list that was just written through the daemon. */
  set(roots: readonly string[], followed: readonly string[] = []): void {
    if (this.#settings.stores !== null) return;
    this.#take(roots, followed);
    this.#stamp = stampOf(operatorFilePaths(this.#settings).stores);
  }

  #take(roots: readonly string[], followed: readonly string[]): void {
    this.#roots = roots;
    this.#followed = new Set(followed);
  }
}

/** What tells two versions of a file apart, or the error of a file that cannot be looked at; null for no file. */
function stampOf(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  } catch (error) {
    return messageOf(error);
  }
}
