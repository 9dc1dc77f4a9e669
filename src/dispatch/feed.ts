import { sha256Of } from '../base/digest.ts';
import type { BlockedView, Death, FiberDocument, RunView } from '../contract/fiber.ts';
import type { Gate } from '../contract/gates.ts';
import type { FeedState } from '../contract/http/fibers.ts';
import type { FeedChanges, FeedNotice } from '../contract/threads/poller.ts';
import { firstRows, MOST_WHOLE_ROWS } from './first-rows.ts';

/** Rows that changed after a tag; above either bound the whole feed is read instead. */
const MOST_CHANGES = 1_000;
const CHANGES_BYTES = 512 * 1024;
/** Removed rows that are remembered; a tag from before a forgotten one is too old. */
const MOST_REMOVED = 1_000;

type Variant = 'all' | 'svc';

/** What a row shows beside its document. */
export type RowFacts = {
  runtime?: RunView;
  blocked?: BlockedView;
  last_death?: Death;
  held?: string;
  held_note?: string;
  shares_folder_with?: string[];
  gate?: Gate;
  next_due_at?: number;
};

/** A class, for an object that is joined of others takes twice the memory. */
class FeedRow {
  readonly path: string;
  document: FiberDocument;
  /** The very facts that were given last, which most rows are given again and again. */
  given: RowFacts;
  facts: string;
  /** Null until somebody asks for it; of a row that is gone, empty. */
  json: string | null = null;
  own = false;
  /** The number of the change that last took it out of the `svc` variant. */
  left_own = 0;
  gone = false;
  /** The number of its last change, and its neighbours in the order of changes. */
  change = 0;
  older: FeedRow | null = null;
  newer: FeedRow | null = null;

  constructor(document: FiberDocument, given: RowFacts, facts: string) {
    this.path = document.path;
    this.document = document;
    this.given = given;
    this.facts = facts;
  }
}

/** Rows by their last change, as a linked list: a change, and what changed lately, cost nothing for the others. */
class ChangeOrder {
  #newest: FeedRow | null = null;

  /** `change` is above that of every row. */
  changed(row: FeedRow, change: number): void {
    this.forget(row);
    row.change = change;
    row.older = this.#newest;
    if (this.#newest !== null) this.#newest.newer = row;
    this.#newest = row;
  }

  forget(row: FeedRow): void {
    if (row.newer !== null) row.newer.older = row.older;
    else if (this.#newest === row) this.#newest = row.older;
    if (row.older !== null) row.older.newer = row.newer;
    row.older = null;
    row.newer = null;
  }

  /** Rows that changed after `change`, the newest first. */
  *after(change: number): Generator<FeedRow> {
    for (let row = this.#newest; row !== null && row.change > change; row = row.older) yield row;
  }
}

/**
 * The body of `GET /fibers`. A row is encoded when somebody first asks for it: a feed that nobody reads as a whole takes
 * no memory for its text, and one that is read encodes only what changed. Changes are numbered. A tag names one exact
 * body: the nonce of this process and the number of the last change that moved it; while a store is cold there is none.
 */
export class Feed {
  readonly #host: string;
  readonly #nonce: string;
  #rows = new Map<string, FeedRow>();
  /** Those of this host, which are few of many. */
  readonly #own = new Set<FeedRow>();
  /** Rows that are gone, the longest gone first. */
  #removed = new Map<string, FeedRow>();
  /** All of them by their last change. */
  #order_of_change = new ChangeOrder();
  /** Removals up to this change are forgotten. */
  #forgotten = 0;
  /** The rows as they are listed; null when one came or went. */
  #order: FeedRow[] | null = null;
  #last_change = { all: 0, svc: 0 };
  #told: { change: number; etags: FeedNotice['since'] } = { change: 0, etags: { all: null, svc: null } };
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

  /** The document whose row this is; undefined for a path without a row. */
  document(path: string): FiberDocument | undefined {
    return this.#rows.get(path)?.document;
  }

  /** Sets one row; true when its bytes changed. `path` identifies the document. */
  set(document: FiberDocument, facts: RowFacts, now: number): boolean {
    const known = this.#rows.get(document.path);
    const same = known?.document === document;
    if (same && known.given === facts) return false;
    const encodedFacts = encodeFacts(facts);
    if (same && known.facts === encodedFacts) {
      known.given = facts;
      return false;
    }
    if (known !== undefined && !same && encodeRow(document, encodedFacts) === this.#json(known)) {
      known.document = document;
      known.given = facts;
      known.facts = encodedFacts;
      return false;
    }
    const own = document.svc?.host === this.#host;
    const was_own = known?.own === true;
    const row = known ?? this.#removed.get(document.path) ?? new FeedRow(document, facts, encodedFacts);
    if (known === undefined) {
      this.#removed.delete(row.path);
      this.#rows.set(row.path, row);
      this.#order = null;
    }
    row.document = document;
    row.given = facts;
    row.facts = encodedFacts;
    row.json = null;
    row.own = own;
    row.gone = false;
    if (own) this.#own.add(row);
    else this.#own.delete(row);
    this.#moved(own || was_own, now);
    if (was_own && !own) row.left_own = this.#last_change.all;
    this.#order_of_change.changed(row, this.#last_change.all);
    return true;
  }

  /** Removes one row; true when it was there. */
  delete(path: string, now: number): boolean {
    const known = this.#rows.get(path);
    if (known === undefined) return false;
    this.#rows.delete(path);
    this.#own.delete(known);
    this.#order = null;
    this.#moved(known.own, now);
    if (known.own) known.left_own = this.#last_change.all;
    known.own = false;
    known.gone = true;
    known.json = '';
    known.facts = '';
    this.#order_of_change.changed(known, this.#last_change.all);
    this.#removed.set(path, known);
    this.#forgetRemoved();
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

  /** What changed in one variant after an entity tag, and the encoded rows of it. */
  changesSince(etag: string, variant: Variant): { value: FeedChanges; bytes: Uint8Array } {
    return this.#changes(this.#changeOf(etag, variant), variant);
  }

  /** What changed after the last notice. */
  notice(): { value: FeedNotice; bytes: Uint8Array } {
    const { change, etags } = this.#told;
    const { value, bytes } = this.#changes(etags.all === null ? null : change, 'all');
    this.#told = { change: this.#last_change.all, etags: value.etags };
    return { value: { ...value, since: etags }, bytes };
  }

  /** The encoded body and its tag. */
  encode(options: { svc: boolean }): { etag: string | null; bytes: Uint8Array } {
    const rows = this.#sorted(options.svc).map((row) => this.#json(row));
    return {
      etag: this.#tag(options.svc ? 'svc' : 'all'),
      bytes: this.#join(rows, options.svc ? 'svc' : 'all'),
    };
  }

  /** The body with the rows alone that a board shows first; null while cold, and where there are few. */
  encodeFirst(now: number): Uint8Array | null {
    if (this.#state === 'cold' || this.size <= MOST_WHOLE_ROWS) return null;
    const rows = firstRows(this.#sorted(false), now).map((row) => this.#json(row));
    return this.#join(rows, 'all', { tag: null, whole: true, of: this.size });
  }

  /** The body with the markdown bodies in it; `readBody` may throw for a document that just went away. */
  encodeWithBodies(
    options: { svc: boolean },
    readBody: (document: FiberDocument) => string,
  ): { etag: string | null; bytes: Uint8Array } {
    const rows = this.#sorted(options.svc).map((row) => {
      const body = JSON.stringify(readBody(row.document));
      return `${this.#json(row).slice(0, -1)},"body":${body}}`;
    });
    const bytes = this.#join(rows, options.svc ? 'svc' : 'all');
    const digest = sha256Of(bytes).slice(0, 32);
    return { etag: this.#state === 'cold' ? null : `"${digest}"`, bytes };
  }

  #sorted(svc: boolean): FeedRow[] {
    if (svc) return [...this.#own].sort(byId);
    // A path stands for one id in one store, so that only a row more or less changes the order.
    this.#order ??= [...this.#rows.values()].sort(byId);
    return this.#order;
  }

  #join(rows: string[], variant: 'all' | 'svc', also: object = {}): Uint8Array {
    const generated_at = this.#changed_at[variant];
    const head = JSON.stringify({ ...also, host: this.#host, state: this.#state, generated_at });
    return new TextEncoder().encode(`${head.slice(0, -1)},"fibers":[${rows.join(',')}]}`);
  }

  #tag(variant: 'all' | 'svc'): string | null {
    return this.#state === 'cold' ? null : `"${this.#nonce}-${variant}-${this.#last_change[variant]}"`;
  }

  /** The number of the change that a tag names; null for a tag that this feed never had. */
  #changeOf(etag: string, variant: Variant): number | null {
    const prefix = `"${this.#nonce}-${variant}-`;
    const change = etag.startsWith(prefix) ? /^(\d{1,15})"$/.exec(etag.slice(prefix.length)) : null;
    return change !== null && Number(change[1]) <= this.#last_change[variant] ? Number(change[1]) : null;
  }

  #changes(since: number | null, variant: Variant): { value: FeedChanges; bytes: Uint8Array } {
    const head = { etags: this.etags(), state: this.#state, generated_at: { ...this.#changed_at } };
    const rows = since === null ? null : this.#changedRows(since, variant);
    if (since === null || rows === null || this.#state === 'cold')
      return { value: { ...head, changes: null }, bytes: new Uint8Array(0) };
    const changes = rows.map((row) => ({
      ...{ path: row.path, own: row.own, was_own: row.left_own > since },
      bytes: row.gone ? null : Buffer.byteLength(this.#json(row)),
    }));
    return {
      value: { ...head, changes },
      bytes: new TextEncoder().encode(rows.map((row) => this.#json(row)).join('')),
    };
  }

  /** Null when too much changed, or when a removal after that change is forgotten. */
  #changedRows(since: number, variant: Variant): FeedRow[] | null {
    if (since < this.#forgotten) return null;
    const rows: FeedRow[] = [];
    let bytes = 0;
    for (const row of this.#order_of_change.after(since)) {
      if (variant === 'svc' && !row.own && row.left_own <= since) continue;
      rows.push(row);
      bytes += Buffer.byteLength(this.#json(row));
      if (rows.length > MOST_CHANGES || bytes > CHANGES_BYTES) return null;
    }
    return rows;
  }

  #json(row: FeedRow): string {
    row.json ??= encodeRow(row.document, row.facts);
    return row.json;
  }

  #forgetRemoved(): void {
    for (const [path, row] of this.#removed) {
      if (this.#removed.size <= MOST_REMOVED) return;
      this.#removed.delete(path);
      this.#order_of_change.forget(row);
      this.#forgotten = row.change;
    }
  }

  #moved(own: boolean, now: number): void {
    this.#last_change.all += 1;
    this.#changed_at.all = now;
    if (!own) return;
    this.#last_change.svc = this.#last_change.all;
    this.#changed_at.svc = now;
  }
}

/** One text for all rows without facts, which are most. */
const NO_FACTS = '{}';

function encodeFacts(facts: RowFacts): string {
  for (const _ in facts) return JSON.stringify(facts);
  return NO_FACTS;
}

/** The encoded row of a document and its encoded facts, which have no key in common. */
function encodeRow(document: FiberDocument, facts: string): string {
  const json = JSON.stringify(document);
  return facts === NO_FACTS ? json : `${json.slice(0, -1)},${facts.slice(1)}`;
}

function byId(a: FeedRow, b: FeedRow): number {
  return (
    compare(a.document.id, b.document.id) ||
    compare(a.document.store, b.document.store) ||
    compare(a.path, b.path)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
