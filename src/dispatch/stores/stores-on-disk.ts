import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { FollowedFile, type FollowingDisks } from '../../config/followed-file.ts';
import { readStores } from '../../config/path-lists.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';

/**
 * The stores to poll as `stores.json` lists them. What cannot be used, a file that is away for a moment, and a disk that
 * does not answer leave the stores as they were: no slip of the pen takes a board away.
 */
export class StoresOnDisk {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #file: FollowedFile;
  #roots: readonly string[];
  #followed: ReadonlySet<string> = new Set();

  /** `roots` are those that were found when the daemon started. */
  constructor(
    settings: Settings,
    { roots, disks, logger }: { roots: readonly string[]; disks: FollowingDisks; logger: Logger },
  ) {
    this.#settings = settings;
    this.#roots = roots;
    this.#logger = logger;
    this.#file = new FollowedFile(operatorFilePaths(settings).stores, {
      disks,
      takeUp: (exists) => {
        if (exists) this.#read();
      },
    });
  }

  /** The stores as they are now. */
  get roots(): readonly string[] {
    if (this.#settings.stores === null) this.#file.lookNow();
    return this.#roots;
  }

  /** Whether the documents of a store may be links out of it. */
  follows(root: string): boolean {
    return this.#followed.has(root);
  }

  /** Reads the list again where its file moved; false where its disk does not answer. */
  async look(): Promise<boolean> {
    return this.#settings.stores !== null || this.#file.look();
  }

  /** Takes a list that was just written through the daemon. */
  set(roots: readonly string[], followed: readonly string[] = []): void {
    if (this.#settings.stores !== null) return;
    this.#roots = roots;
    this.#followed = new Set(followed);
  }

  #read(): void {
    try {
      const { paths, followed } = readStores(this.#settings);
      this.set(paths, followed);
    } catch (error) {
      this.#logger.warn({ detail: messageOf(error) }, 'the list of stores is not used');
    }
  }
}
