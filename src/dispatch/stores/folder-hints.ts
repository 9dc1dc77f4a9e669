import { readdirSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

export type Came = 'folder' | 'document';

/** What hints about some folders led to. */
export type Followed = {
  /** Paths of documents whose rows moved. */
  moved: string[];
  /** Folders that are new, and bare documents that are. */
  came: Map<string, Came>;
  /** Folders that are gone, with all that were below them. */
  went: string[];
};

/** Entries that are remembered as nothing of ours. */
const MOST_IGNORED = 1_000;

export type HintedStore = {
  /** Reads one document again; true when its row moved. */
  refresh(path: string): boolean;
  isKnown(path: string): boolean;
  /** Whether a folder is there and may be read: a link may have replaced it. */
  hasFolder(folder: string): boolean;
};

/**
 * The folders of one store, to tell a hint that matters from the noise of a worker that writes beside its document all
 * the time.
 */
export class FolderHints {
  readonly #base: string;
  readonly #store: HintedStore;
  #folders = new Set<string>();
  #children = new Map<string, Set<string>>();
  /** What came or went since the listing under way began, which may not have seen it. */
  #since = { came: new Set<string>(), went: new Set<string>() };
  /** Entries that were looked at and are nothing of ours. */
  readonly #ignored = new Set<string>();

  constructor(base: string, store: HintedStore) {
    this.#base = base;
    this.#store = store;
  }

  get size(): number {
    return this.#folders.size;
  }

  /** A listing begins. */
  beginListing(): void {
    this.#since = { came: new Set(), went: new Set() };
  }

  /** The folders that the listing has found, or null if they are the same; answers which they are by now. */
  listed(folders: readonly string[] | null): string[] {
    if (folders === null) return [...this.#folders];
    const { came, went } = this.#since;
    this.#folders = new Set();
    this.#children.clear();
    for (const folder of folders) if (!went.has(folder)) this.#take(folder);
    for (const folder of came) this.#take(folder);
    return [...this.#folders];
  }

  /** Folders that a look has found; answers the new ones among them. */
  add(folders: readonly string[]): string[] {
    const added = folders.filter((folder) => !this.#folders.has(folder));
    for (const folder of added) {
      this.#take(folder);
      this.#since.came.add(folder);
      this.#since.went.delete(folder);
    }
    return added;
  }

  /** Entries that a look found to be no fiber and no folder of one are not looked at again. */
  ignore(paths: Iterable<string>): void {
    if (this.#ignored.size > MOST_IGNORED) this.#ignored.clear();
    for (const path of paths) if (!this.#knows(path)) this.#ignored.add(path);
  }

  /** Hints of a store that is there, by folder; true for a folder that may have been replaced by another one of its name. */
  follow(hints: ReadonlyMap<string, boolean>): Followed {
    const followed: Followed = { moved: [], came: new Map(), went: [] };
    for (const [folder, replaced] of hints) {
      if (folder !== this.#base) {
        const path = documentOf(folder);
        if (this.#store.refresh(path)) followed.moved.push(path);
      }
      if (replaced) this.#forget(folder, followed);
      this.#lookAt(folder, replaced, followed);
    }
    return followed;
  }

  /** Compares the folder's entries with what is known. */
  #lookAt(folder: string, replaced: boolean, followed: Followed): void {
    const here = new Set<string>();
    let entries: { name: string; directory: boolean }[];
    if (!this.#store.hasFolder(folder)) {
      this.#forget(folder, followed);
      return;
    }
    try {
      entries = readdirSync(folder, { withFileTypes: true }).map((entry) => ({
        name: entry.name,
        directory: entry.isDirectory(),
      }));
    } catch {
      this.#forget(folder, followed);
      return;
    }
    if (replaced) {
      followed.came.set(folder, 'folder');
      return;
    }
    for (const { name, directory } of entries) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      here.add(path);
      const isDocument = !directory && folder === this.#base && name.endsWith('.md');
      if (isDocument && this.#store.isKnown(path) && this.#store.refresh(path)) followed.moved.push(path);
      if ((directory || isDocument) && !this.#knows(path) && !this.#ignored.has(path))
        followed.came.set(path, directory ? 'folder' : 'document');
    }
    for (const child of this.#children.get(folder) ?? []) if (!here.has(child)) this.#forget(child, followed);
    for (const path of this.#ignored)
      if (dirname(path) === folder && !here.has(path)) this.#ignored.delete(path);
  }

  /** A folder and all below it are no longer known. */
  #forget(folder: string, followed: Followed): void {
    if (!this.#folders.delete(folder)) return;
    this.#since.came.delete(folder);
    this.#since.went.add(folder);
    followed.went.push(folder);
    this.#children.get(dirname(folder))?.delete(folder);
    for (const child of this.#children.get(folder) ?? []) this.#forget(child, followed);
    this.#children.delete(folder);
  }

  #take(folder: string): void {
    this.#folders.add(folder);
    if (folder === this.#base) return;
    const parent = folder.slice(0, folder.lastIndexOf(sep));
    const siblings = this.#children.get(parent);
    if (siblings === undefined) this.#children.set(parent, new Set([folder]));
    else siblings.add(folder);
  }

  #knows(path: string): boolean {
    return this.#folders.has(path) || this.#store.isKnown(path);
  }
}

/** Where the document of a folder lies. */
export function documentOf(folder: string): string {
  return join(folder, `${basename(folder)}.md`);
}
