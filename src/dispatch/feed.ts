import { createHash } from 'node:crypto';
import type { BlockedView, FiberDocument, FiberRow, RunView } from '../contract/fiber.ts';
import type { Gate } from '../contract/gates.ts';
import type { FeedState } from '../contract/http/fibers.ts';

/** What a row shows beside its document. */
export type RowFacts = {
  runtime?: RunView;
  blocked?: BlockedView;
  held?: string;
  gate?: Gate;
  next_due_at?: number;
};

type EncodedRow = {
  document: FiberDocument;
  /** The very facts that were given last, which most rows are given again and again. */
  given: RowFacts;
  facts: string;
  json: string;
  own: boolean;
};

/**
 * The body of `GET /fibers`, kept as encoded rows: a change encodes one row, and the whole body is only
 * joined when somebody asks for it. A tag names one exact body: the nonce of this process and the number
 * of changes so far; while a store is cold there is none.
 */
export class Feed {
  readonly #host: string;
  readonly #nonce: string;
  #rows = new Map<string, EncodedRow>();
  /** The rows as they are listed; null when one came or went. */
  #order: EncodedRow[] | null = null;
  #generation = { all: 0, svc: 0 };
  #changed_at: { all: number; svc: number };
  #state: FeedState = 'cold';

  constructor(options: { host: string; nonce: string; now: number }) {
    this.#host = options.host;
    this.#nonce = options.nonce;
    this.#changed_at = { all: options.now, svc: options.now };
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Entity tags of the two bodiless variants; null while cold. */
  etags(): { all: string | null; svc: string | null } {
    return { all: this.#tag('all'), svc: this.#tag('svc') };
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Sets one row; true when its bytes changed. `path` identifies the document. */
  set(document: FiberDocument, facts: RowFacts, now: number): boolean {
    const known = this.#rows.get(document.path);
    const same = known?.document === document;
    if (same && known.given === facts) return false;
    const encodedFacts = JSON.stringify(facts);
    if (same && known.facts === encodedFacts) {
      known.given = facts;
      return false;
    }
    const row: FiberRow = { ...document, ...facts };
    const json = JSON.stringify(row);
    if (known?.json === json) {
      known.document = document;
      known.given = facts;
      known.facts = encodedFacts;
      return false;
    }
    const own = document.svc?.host === this.#host;
    const was_own = known?.own === true;
    const encoded = { document, given: facts, facts: encodedFacts, json, own };
    if (known === undefined) {
      this.#rows.set(document.path, encoded);
      this.#order = null;
    } else Object.assign(known, encoded);
    this.#moved(own || was_own, now);
    return true;
  }

  /** Removes one row; true when it was there. */
  delete(path: string, now: number): boolean {
    const known = this.#rows.get(path);
    if (known === undefined) return false;
    this.#rows.delete(path);
    this.#order = null;
    this.#moved(known.own, now);
    return true;
  }

  paths(): string[] {
    return [...this.#rows.keys()];
  }

  /** True when the state moved. */
  setState(state: FeedState, now: number): boolean {
    if (this.#state === state) return false;
    this.#state = state;
    this.#moved(true, now);
    return true;
  }

  /** The encoded body and its tag. */
  encode(options: { svc: boolean }): { etag: string | null; bytes: Uint8Array } {
    const rows = this.#sorted(options.svc).map((row) => row.json);
    return {
      etag: this.#tag(options.svc ? 'svc' : 'all'),
      bytes: this.#join(rows, options.svc ? 'svc' : 'all'),
    };
  }

  /** The body with the markdown bodies in it; `readBody` may throw for a document that just went away. */
  encodeWithBodies(
    options: { svc: boolean },
    readBody: (document: FiberDocument) => string,
  ): { etag: string | null; bytes: Uint8Array } {
    const rows = this.#sorted(options.svc).map((row) => {
      const body = JSON.stringify(readBody(row.document));
      return `${row.json.slice(0, -1)},"body":${body}}`;
    });
    const bytes = this.#join(rows, options.svc ? 'svc' : 'all');
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    return { etag: this.#state === 'cold' ? null : `"${digest}"`, bytes };
  }

  #sorted(svc: boolean): EncodedRow[] {
    // A path stands for one id in one store, so that only a row more or less changes the order.
    this.#order ??= [...this.#rows.values()].sort(
      (a, b) => compare(a.document.id, b.document.id) || compare(a.document.store, b.document.store),
    );
    return svc ? this.#order.filter((row) => row.own) : this.#order;
  }

  #join(rows: string[], variant: 'all' | 'svc'): Uint8Array {
    const generated_at = this.#changed_at[variant];
    const head = JSON.stringify({ host: this.#host, state: this.#state, generated_at });
    return new TextEncoder().encode(`${head.slice(0, -1)},"fibers":[${rows.join(',')}]}`);
  }

  #tag(variant: 'all' | 'svc'): string | null {
    return this.#state === 'cold' ? null : `"${this.#nonce}-${variant}-${this.#generation[variant]}"`;
  }

  #moved(own: boolean, now: number): void {
    this.#generation.all += 1;
    this.#changed_at.all = now;
    if (!own) return;
    this.#generation.svc += 1;
    this.#changed_at.svc = now;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
