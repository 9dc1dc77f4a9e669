import { fstatSync, readdirSync } from 'node:fs';

/** What is open in this process. */
export type OpenFiles = {
  /** Numbers of the open files, as text; one that was closed since may be among them. */
  numbers(): readonly string[];
  /** The inode where the number is an open socket. */
  look(number: string): number | 'no_socket' | 'closed';
};

/** Tells which sockets were opened since it was last asked. */
export class OpenSockets {
  #files: OpenFiles;
  #numbers = new Set<string>();
  #known = new Set<number>();

  constructor(files: OpenFiles) {
    this.#files = files;
  }

  /** How many files were open when last looked; a sure look costs about a microsecond each. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Inodes of the sockets that are open now and were not known before; looks at every open file. */
  appeared(): Set<number> {
    const before = this.#known;
    this.#known = new Set();
    this.#numbers.clear();
    return new Set([...this.#lookAt(this.#files.numbers())].filter((inode) => !before.has(inode)));
  }

  /**
   * The same, and far cheaper, but only of those under numbers at which nothing was open before: a number that
   * another thread gave back in between, and that was given out again, is passed over.
   */
  appearedUnderNewNumbers(): Set<number> {
    return this.#lookAt(this.#files.numbers().filter((number) => !this.#numbers.has(number)));
  }

  #lookAt(numbers: readonly string[]): Set<number> {
    const fresh = new Set<number>();
    for (const number of numbers) {
      const inode = this.#files.look(number);
      // The listing opens its folder under the very number that the next socket gets.
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

/** The open files of this process, of all its threads, by `/proc/self/fd`. */
export const procOpenFiles: OpenFiles = {
  numbers: () => readdirSync('/proc/self/fd'),
  look(number) {
    try {
      const { mode, ino } = fstatSync(Number(number));
      return (mode & TYPE_BITS) === SOCKET ? ino : 'no_socket';
    } catch {
      return 'closed';
    }
  },
};
