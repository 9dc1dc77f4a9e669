import type { Stats } from 'node:fs';
import { sha256Of } from '../base/digest.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { type DocumentPlace, parseRow, unreadableDocument } from './document.ts';
import {
  type DocumentFile,
  DocumentReader,
  isSilentDisk,
  type Reach,
  unreadable,
} from './document-reader.ts';
import type { SweepFindings } from './sweep-findings.ts';
import {
  isSettled,
  type KnownDocument,
  type KnownRows,
  NO_NOTE,
  NO_STAMP,
  stampOf,
  type TableRow,
  tokenOf,
} from './sweep-table.ts';

export type DocumentSweepOptions = Partial<Reach> & {
  /** Called with the token of a document before it is parsed, and with null afterwards and for each path that is looked at. */
  onStep?: (token: string | null) => void;
  /** Tokens of documents whose parse exceeded its time limit: they are listed with an error and not parsed. */
  set_aside?: readonly string[];
  parse?: typeof parseRow;
};

/** The documents of one sweep: those of the last one, and what has become of them. */
export class SweptDocuments {
  readonly #root: string;
  readonly #now: number;
  readonly #found: SweepFindings;
  readonly #before: KnownRows;
  readonly #reader: DocumentReader;
  readonly #parse: typeof parseRow;
  readonly #onStep: (token: string | null) => void;
  readonly #set_aside: Set<string>;
  /** By path. */
  readonly #rows = new Map<string, TableRow<KnownDocument>>();
  /** By the number of a row: it was looked at, or is kept. */
  readonly #seen: Uint8Array;

  /** `before` are the documents of the last sweep. */
  constructor(
    root: string,
    now: number,
    found: SweepFindings,
    before: KnownRows,
    {
      follow = false,
      answering = 'all',
      onStep = () => {},
      set_aside = [],
      parse = parseRow,
    }: DocumentSweepOptions,
  ) {
    this.#root = root;
    this.#now = now;
    this.#found = found;
    this.#before = before;
    before.paths.forEach((path, row) => {
      this.#rows.set(path, row);
    });
    this.#seen = new Uint8Array(before.paths.length);
    this.#reader = new DocumentReader(root, { follow, answering });
    this.#onStep = onStep;
    this.#set_aside = new Set(set_aside);
    this.#parse = parse;
  }

  all(): TableRow<KnownDocument>[] {
    return [...this.#rows.values()];
  }

  /** Absolute paths of those whose changes a watch of their folder may miss. */
  unwatchable(): string[] {
    const paths: string[] = [];
    for (const [path, row] of this.#rows) {
      const is_linked = typeof row === 'number' ? this.#before.isLinked(row) : row.linked;
      if (is_linked || this.#note(row).error !== '') paths.push(this.#found.absolute(path));
    }
    return paths;
  }

  /** Looks again at the known documents that lie in `.fibers` itself. */
  lookAtRoot(): void {
    for (const path of this.#before.paths) if (!path.includes('/')) this.look(path);
  }

  /** Looks again at a document if it is known. */
  lookIfKnown(path: string): void {
    if (this.#rows.has(path)) this.look(path);
  }

  /** Keeps what is known below a folder that cannot be read. */
  keepBelow(folder: string): void {
    this.#before.paths.forEach((path, row) => {
      if (folder === '' || path.startsWith(`${folder}/`)) this.#seen[row] = 1;
    });
  }

  /** Removes the known documents that were neither looked at nor kept. */
  dropUnseen(): void {
    for (const [path, row] of this.#rows) {
      if (typeof row !== 'number' || this.#seen[row] === 1) continue;
      this.#rows.delete(path);
      this.#found.removed.push(this.#found.absolute(path));
      this.#found.moved = true;
    }
  }

  /** Throws `store_unavailable` for a folder on a disk that may not be asked. */
  requireOpen(folder: string): void {
    this.#reader.requireOpen(folder);
  }

  /** Whether the folders above a path are those of the store. What a silent disk keeps from being known is reported. */
  isWithin(path: string): boolean {
    try {
      return this.#reader.isWithin(this.#found.absolute(path));
    } catch (error) {
      if (!isSilentDisk(error)) throw error;
      this.#found.fail(path, messageOf(error));
      return false;
    }
  }

  /** Reads a document unless it is as it was. `is_file`: its folder lists it as a file, and not as a link or a pipe. */
  look(path: string, { is_file = false }: { is_file?: boolean } = {}): void {
    this.#onStep(null);
    const before = this.#rows.get(path);
    if (before === undefined) {
      if (this.#found.isFull) {
        this.#found.unread.push(path);
        return;
      }
      this.#found.countNew();
    }
    const absolute = this.#found.absolute(path);
    const place: DocumentPlace = { store: this.#root, path: absolute, relativePath: path };
    try {
      const found = before === undefined && is_file ? 'a file' : this.#reader.findIn(absolute);
      if (found === null) return; // gone: dropped at the end
      if (before !== undefined && found !== 'a file' && this.#isAsRead(before, found.stat)) return;
      const file = this.#reader.read(absolute, found);
      this.#took(path, file, before, place);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      const message = unreadable(error);
      this.#found.fail(path, message);
      if (typeof before === 'number') this.#seen[before] = 1;
      const note = before === undefined ? null : this.#note(before);
      if (note !== null && (note.error === message || (note.error === '' && isSilentDisk(error)))) return;
      this.#found.moved = true;
      const row = { path, ...NO_STAMP, settled: false, linked: false, digest: '', error: message };
      this.#rows.set(path, row);
      this.#found.changed.push(unreadableDocument(place, message));
    }
  }

  /** Of a document that this sweep has read already it is not asked. */
  #isAsRead(row: TableRow<KnownDocument>, stat: Stats): boolean {
    if (typeof row !== 'number') return true;
    const known = this.#before;
    if (!known.isSettled(row) || known.note(row).error !== '' || !known.hasStamp(row, stat)) return false;
    this.#seen[row] = 1;
    return true;
  }

  #note(row: TableRow<KnownDocument>): { digest: string; error: string } {
    return typeof row === 'number' ? this.#before.note(row) : row;
  }

  #took(
    path: string,
    { bytes, stat, is_linked }: DocumentFile,
    before: TableRow<KnownDocument> | undefined,
    place: DocumentPlace,
  ): void {
    const token = tokenOf(path, stat);
    if (this.#set_aside.has(token)) throw new Error(SET_ASIDE);
    const settled = isSettled(stat, this.#now);
    const known = { path, ...stampOf(stat), settled, linked: is_linked, error: '' };
    this.#found.moved = true;
    const { digest, error } = before === undefined ? NO_NOTE : this.#note(before);
    if (error === '' && digest !== '' && digest === sha256Of(bytes)) {
      this.#rows.set(path, { ...known, digest: settled ? '' : digest });
      return;
    }
    const row = this.#parseTimed(token, bytes, place);
    this.#rows.set(path, { ...known, digest: settled ? '' : row.digest });
    this.#found.changed.push(row);
  }

  #parseTimed(token: string, bytes: Buffer, place: DocumentPlace): FiberDocument {
    this.#onStep(token);
    try {
      return this.#parse(bytes, place);
    } finally {
      this.#onStep(null);
    }
  }
}

const SET_ASIDE =
  'parsing it exceeded the time limit and was stopped; simplify its frontmatter (it is tried again when it changes, and from time to time)';
