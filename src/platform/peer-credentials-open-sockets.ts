import { fstatSync, readdirSync } from 'node:fs';

/** The open files of this process. */
export type OpenFiles = {
  /** Descriptor numbers as text; the list may contain descriptors closed since. */
  numbers(): readonly string[];
  /** The inode if the descriptor is an open socket. */
  inodeOf(number: string): number | 'no_socket' | 'closed';
};

/** Reports the sockets opened since the last call. */
export class OpenSockets {
  #files: OpenFiles;
  #numbers = new Set<string>();
  #known = new Set<number>();

  constructor(files: OpenFiles) {
    this.#files = files;
  }

  /** Number of open files at the last inspection; a full one costs about a microsecond each. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Inodes of new sockets; inspects every open file. */
  appeared(): Set<number> {
    const before = this.#known;
    this.#known = new Set();
    this.#numbers.clear();
    return new Set([...this.#inspect(this.#files.numbers())].filter((inode) => !before.has(inode)));
  }

  /**
   * The same, far cheaper, but only for descriptors that were not in use before. It misses a descriptor that another
   * thread closed and that was reused since the last call.
   */
  appearedUnderNewNumbers(): Set<number> {
    return this.#inspect(this.#files.numbers().filter((number) => !this.#numbers.has(number)));
  }

  #inspect(numbers: readonly string[]): Set<number> {
    const fresh = new Set<number>();
    for (const number of numbers) {
      const inode = this.#files.inodeOf(number);
      // Listing the folder opens it at the descriptor number that the next socket will get.
      if (inode === 'closed') continue;
      this.#numbers.add(number);
      if (inode === 'no_socket' || this.#known.has(inode)) continue;
      this.#known.add(inode);
      fresh.add(inode);
    }
    return fresh;
  }
}

const TYPE_BITS = 0o170000;
const SOCKET = 0o140000;

/** The open files of all threads of this process, from `/proc/self/fd`. */
export const procOpenFiles: OpenFiles = {
  numbers: () => readdirSync('/proc/self/fd'),
  inodeOf(number) {
    try {
      const { mode, ino } = fstatSync(Number(number));
      return (mode & TYPE_BITS) === SOCKET ? ino : 'no_socket';
    } catch {
      return 'closed';
    }
  },
};
