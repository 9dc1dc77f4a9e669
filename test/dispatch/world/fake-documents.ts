import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { CodedError } from '../../../src/base/errors.ts';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import type { DocumentChange, Documents } from '../../../src/dispatch/world/documents.ts';
import { parseDocument, parseRow } from '../../../src/fibers/document.ts';
import { editDocument } from '../../../src/fibers/edit.ts';
import { StoreIndex } from '../../../src/fibers/store-index.ts';

export const STORE = '/srv/notes';

/** A store on an imagined disk: real text, real parsing and editing; the index only knows what was listed. */
export class FakeDocuments {
  readonly index = new StoreIndex();
  readonly files = new Map<string, string>();
  /** The disk answers nothing. */
  unavailable = false;
  /** Another program keeps every document locked. */
  locked = false;
  writes = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Puts a document on the disk, as an editor would; it is not listed yet. */
  write(id: string, frontmatter: string, body = 'Text.\n'): string {
    const path = `${STORE}/.fibers/${id}/${basename(id)}.md`;
    this.files.set(path, `---\n${frontmatter.trim()}\n---\n${body}`);
    return path;
  }

  /** Changes the text of a document by hand. */
  edit(path: string, change: (text: string) => string): void {
    this.files.set(path, change(this.files.get(path) ?? ''));
  }

  remove(path: string): void {
    this.files.delete(path);
  }

  /** One listing of the store. */
  list(): void {
    if (this.unavailable) return;
    for (const row of [...this.index.rows()]) this.index.refresh(row.path, (path) => this.row(path));
    for (const path of this.files.keys()) this.index.refresh(path, (file) => this.row(file));
  }

  row(path: string): FiberDocument | null {
    if (this.unavailable) throw new CodedError('store_unavailable', 'the disk does not answer');
    const text = this.files.get(path);
    if (text === undefined) return null;
    const relativePath = path.slice(`${STORE}/.fibers/`.length);
    const row = parseRow(Buffer.from(text), { store: STORE, path, relativePath });
    return { ...row, id: dirname(relativePath), digest: createHash('sha256').update(text).digest('hex') };
  }

  /** The documents as one daemon sees them; `guard` stops a daemon that has crashed. */
  seenBy(guard: (step: string) => void, afterwards: (step: string) => void): Documents {
    return {
      all: () => this.index.rows(),
      find: (id) => this.index.get(id),
      byUid: (uid) => this.index.getUid(uid),
      of: (run) => {
        const at = this.index.getPath(run.path);
        return at?.uid === run.uid || at?.error !== undefined ? at : this.index.getUid(run.uid);
      },
      isAmbiguous: (document) => this.index.isAmbiguous(document),
      twins: (document) => this.index.twins(document),
      reread: (document) => {
        this.index.refresh(document.path, (path) => this.row(path));
        return this.index.getPath(document.path);
      },
      planChange: async (document, plan) => {
        const text = this.files.get(document.path);
        const before = this.row(document.path);
        if (text === undefined || before === null) throw new CodedError('fiber_not_found', 'it is gone');
        const change = plan(before);
        const changes = Object.keys(change.set).length > 0 || change.unset.length > 0;
        const after = changes ? editDocument(text, change, this.#now()) : text;
        const relativePath = document.path.slice(`${STORE}/.fibers/`.length);
        const place = { store: STORE, path: document.path, relativePath };
        return {
          path: document.path,
          name: document.path.slice(1),
          before: text,
          after,
          document: parseDocument(Buffer.from(after), place),
        };
      },
      change: async (document, plan) => {
        guard('change the document');
        if (this.locked) throw new CodedError('locked', 'another program writes it');
        const before = this.row(document.path);
        if (before === null) throw new CodedError('fiber_not_found', 'it is gone');
        const change: DocumentChange = plan(before);
        if (Object.keys(change.set).length > 0 || change.unset.length > 0) {
          if (before.error !== undefined) throw new CodedError('invalid_document', before.error);
          const text = this.files.get(document.path) ?? '';
          guard('write the document');
          this.files.set(document.path, editDocument(text, change, this.#now()));
          this.writes += 1;
        }
        this.index.refresh(document.path, (path) => this.row(path));
        afterwards('the document is written');
        return this.index.getPath(document.path) ?? before;
      },
    };
  }
}
