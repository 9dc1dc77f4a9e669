import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a hint about some folders led to. */
export type Followed = {
  /** Paths of documents whose rows moved. */
  moved: Set<string>;
  /** Paths where the documents of folders that came would lie, and of bare documents that came. */
  came: string[];
  /** Paths where the documents of folders that went lay. */
  went: string[];
};

export type HintedStore = {
  /** Reads one document anew; true when its row moved. */
  refresh(path: string): boolean;
  isKnown(path: string): boolean;
};

/**
 * What the last listing knows of one store's folders, to tell a hint that matters from the noise of a worker
 * that writes beside its document all the time.
 */
export class FolderHints {
  readonly #base: string;
  readonly #store: HintedStore;
  #folders = new Set<string>();
  #children = new Map<string, Set<string>>();
  /** Entries that a listing saw and did not take for a fiber. */
  #ignored = new Set<string>();
  #asked = new Set<string>();

  constructor(base: string, store: HintedStore) {
    this.#base = base;
    this.#store = store;
  }

  /** The folders that a listing has just found. */
  listed(folders: readonly string[]): void {
    this.#folders = new Set(folders);
    this.#children.clear();
    for (const folder of folders) {
      if (folder === this.#base) continue;
      const parent = dirname(folder);
      const siblings = this.#children.get(parent) ?? new Set();
      this.#children.set(parent, siblings.add(folder));
    }
  }

  /** A listing is done: what it was asked to look at and still does not know is nothing of ours. */
  settled(): void {
    this.#ignored = new Set([...this.#ignored, ...this.#asked].filter((path) => !this.#knows(path)));
    this.#asked.clear();
  }

  follow(folders: Iterable<string>): Followed {
    const followed: Followed = { moved: new Set(), came: [], went: [] };
    for (const folder of folders) {
      if (folder !== this.#base) {
        const path = documentOf(folder);
        if (this.#store.refresh(path)) followed.moved.add(path);
      }
      this.#lookAt(folder, followed);
    }
    return followed;
  }

  /** Compares the folder's entries with what is known. */
  #lookAt(folder: string, { moved, came, went }: Followed): void {
    const here = new Set<string>();
    let entries: { name: string; directory: boolean }[];
    try {
      entries = readdirSync(folder, { withFileTypes: true }).map((entry) => ({
        name: entry.name,
        directory: entry.isDirectory(),
      }));
    } catch {
      if (this.#folders.has(folder)) went.push(documentOf(folder));
      return;
    }
    for (const { name, directory } of entries) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      here.add(path);
      const isDocument = !directory && folder === this.#base && name.endsWith('.md');
      if (isDocument && this.#store.isKnown(path) && this.#store.refresh(path)) moved.add(path);
      if ((directory || isDocument) && !this.#knows(path) && !this.#ignored.has(path)) {
        this.#asked.add(path);
        came.push(directory ? documentOf(path) : path);
      }
    }
    for (const child of this.#children.get(folder) ?? []) if (!here.has(child)) went.push(documentOf(child));
  }

  #knows(path: string): boolean {
    return this.#folders.has(path) || this.#store.isKnown(path);
  }
}

function documentOf(folder: string): string {
  return join(folder, `${basename(folder)}.md`);
}
