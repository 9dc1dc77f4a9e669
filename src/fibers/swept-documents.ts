import { lstatSync, type Stats, statSync } from 'node:fs';
import { sha256Of } from '../base/digest.ts';
import { systemCode } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { type DocumentPlace, parseRow, unreadableDocument } from './document.ts';
import { type DocumentFile, DocumentReader, unreadable } from './document-reader.ts';
import type { SweepFindings } from './sweep-findings.ts';
import { isSettled, NO_STAMP, sameStamp, stampOf, tokenOf } from './sweep-stamp.ts';
import type { KnownDocument } from './sweep-table.ts';

export type DocumentSweepOptions = {
  /** Whether symlinks out of the store are read. Default: false. */
  follow?: boolean;
  /** Called with the token of a document before it is parsed, and with null afterwards. */
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
  readonly #reader: DocumentReader;
  readonly #parse: typeof parseRow;
  readonly #onStep: (token: string | null) => void;
  readonly #set_aside: Set<string>;
  readonly #known = new Map<string, KnownDocument>();
  readonly #seen = new Set<string>();

  constructor(
    root: string,
    now: number,
    found: SweepFindings,
    { follow = false, onStep = () => {}, set_aside = [], parse = parseRow }: DocumentSweepOptions,
  ) {
    this.#root = root;
    this.#now = now;
    this.#found = found;
    this.#reader = new DocumentReader(root, follow);
    this.#onStep = onStep;
    this.#set_aside = new Set(set_aside);
    this.#parse = parse;
  }

  /** Takes over a document of the last sweep. */
  know(row: KnownDocument): void {
    this.#known.set(row.path, row);
  }

  all(): KnownDocument[] {
    return [...this.#known.values()];
  }

  /** Looks again at the known documents that lie in `.fibers` itself. */
  lookAtRoot(): void {
    for (const path of [...this.#known.keys()]) if (!path.includes('/')) this.look(path);
  }

  /** Looks again at a document if it is known. */
  lookIfKnown(path: string): void {
    if (this.#known.has(path)) this.look(path);
  }

  /** Keeps what is known below a folder that cannot be read. */
  keepBelow(folder: string): void {
    for (const path of this.#known.keys()) {
      if (folder === '' || path.startsWith(`${folder}/`)) this.#seen.add(path);
    }
  }

  /** Removes the known documents that were neither looked at nor kept. */
  dropUnseen(): void {
    for (const path of this.#known.keys()) {
      if (this.#seen.has(path)) continue;
      this.#known.delete(path);
      this.#found.removed.push(this.#found.absolute(path));
      this.#found.moved = true;
    }
  }

  /** Reads a document unless it is as it was. */
  look(path: string): void {
    const before = this.#known.get(path);
    if (before === undefined && this.#found.isFull) {
      this.#found.unread.push(path);
      return;
    }
    if (before === undefined) this.#found.countNew();
    const absolute = this.#found.absolute(path);
    const place: DocumentPlace = { store: this.#root, path: absolute, relativePath: path };
    let stat: Stats | undefined;
    try {
      stat = statSync(absolute, { throwIfNoEntry: false });
      if (stat === undefined) {
        if (lstatSync(absolute, { throwIfNoEntry: false }) === undefined) return; // gone: dropped at the end
        throw new Error('it is a link to a file that does not exist');
      }
      if (before?.settled && before.error === '' && sameStamp(before, stat)) {
        this.#seen.add(path);
        return;
      }
      if (this.#set_aside.has(tokenOf(path, stat))) throw new Error(SET_ASIDE);
      const file = this.#reader.read(absolute, stat);
      this.#seen.add(path);
      this.#took(path, file, before, place);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      this.#seen.add(path);
      const message = unreadable(error);
      this.#found.fail(path, message);
      if (before?.error === message) return;
      this.#found.moved = true;
      const row = { path, ...NO_STAMP, settled: false, linked: false, digest: '', error: message };
      this.#known.set(path, row);
      this.#found.changed.push(unreadableDocument(place, message));
    }
  }

  #took(
    path: string,
    { bytes, stat, is_linked }: DocumentFile,
    before: KnownDocument | undefined,
    place: DocumentPlace,
  ): void {
    const settled = isSettled(stat, this.#now);
    const known = { path, ...stampOf(stat), settled, linked: is_linked, error: '' };
    this.#found.moved = true;
    if (
      before !== undefined &&
      before.error === '' &&
      before.digest !== '' &&
      before.digest === sha256Of(bytes)
    ) {
      this.#known.set(path, { ...known, digest: settled ? '' : before.digest });
      return;
    }
    const row = this.#parseTimed(tokenOf(path, stat), bytes, place);
    this.#known.set(path, { ...known, digest: settled ? '' : row.digest });
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
