import { escapeForTerminal } from '../../../src/base/terminal-text.ts';
import { sameFields } from './same-json.ts';
import type { FiberRow, FibersComposite, FibersDelta, FibersWhole, LiveMessage, Origin } from './wire.ts';

/** What the copy knows of one host. */
export type HostCopy = Omit<Origin, 'read'> & {
  /** How much of its stores its daemon had listed; null before its rows were read once. */
  feed: FibersWhole['state'] | null;
  /** Names the rows of this host alone, as its `GET /live` does; null while they are not all known. */
  tag: string | null;
};

/** The copy of the feeds of all hosts as they were at one tag. */
export type FeedCopy = {
  /** The host that answers. */
  host: string;
  /** Of the host that answers. */
  state: FibersWhole['state'];
  /** Names this copy in `GET /fibers/composite?since=`; null while the feed is cold. */
  tag: string | null;
  /** By `keyOf`. */
  rows: ReadonlyMap<string, FiberRow>;
  /** By name. */
  hosts: ReadonlyMap<string, HostCopy>;
};

/** What a row is known by: two documents can claim one id, and two hosts have one path. */
export function keyOf({ origin, path }: Pick<FiberRow, 'origin' | 'path'>): string {
  return `${origin}:${path}`;
}

/**
 * The copy after an answer to `GET /fibers/composite?since=`, whose rows become those of the copy. A row that did not
 * change stays the same object. The last rows of a host are kept while it does not answer, or has not listed its stores
 * yet.
 */
export function applyAnswer(copy: FeedCopy | null, answer: FibersComposite): FeedCopy {
  const { host, origins } = answer;
  const before = copy?.host === host ? copy : null;
  const rows = new Rows(before?.rows ?? NO_ROWS);
  const hosts = new Map<string, HostCopy>();
  for (const [name, { read, ...standing }] of Object.entries(origins)) {
    const { feed = null, tag = null } = before?.hosts.get(name) ?? {};
    if (read === null) hosts.set(name, { ...standing, feed, tag });
    else {
      hosts.set(name, { ...standing, feed: read.state, tag: read.tag });
      if (read.state !== 'cold' || feed === null) rows.take(name, read);
    }
  }
  rows.keepOnly(hosts);
  const own = hosts.get(host);
  const tag = answer.tag ?? (origins[host]?.read == null ? (before?.tag ?? null) : null);
  return { host, state: own?.feed ?? 'cold', tag, rows: rows.now, hosts };
}

/**
 * What a message of `GET /live` means for the copy: the copy after it, that nothing changed (`same`), or that
 * `GET /fibers/composite?since=` has to be asked (`read`).
 */
export function applyMessage(copy: FeedCopy, message: LiveMessage): FeedCopy | 'same' | 'read' {
  if (message.feed === 'remotes') {
    const known = 'tag' in message && message.tag !== null && copy.tag?.endsWith(`~${message.tag}`) === true;
    return known ? 'same' : 'read';
  }
  if (message.feed !== 'fibers') return 'same';
  const own = copy.hosts.get(copy.host);
  if (own === undefined) return 'read';
  if (!('rows' in message)) return 'tag' in message && message.tag === own.tag ? 'same' : 'read';
  if (message.since !== own.tag) return 'read';
  const rows = new Rows(copy.rows);
  rows.take(copy.host, message);
  const { tag, state } = message;
  const hosts = new Map(copy.hosts).set(copy.host, { ...own, feed: state, tag });
  return { ...copy, state, tag: tagAfter(copy.tag, own.tag, tag), rows: rows.now, hosts };
}

/**
 * The tag of a copy after its own host moved from one tag to another: that of the host stands first in it. After any other
 * it is told with the next answer; until then some changes are asked for twice.
 */
function tagAfter(tag: string | null, own: string, now: string): string | null {
  if (tag === own) return now;
  return tag?.startsWith(`${own}~`) === true ? `${now}${tag.slice(own.length)}` : tag;
}

/** What the bytes of a document decide. To compare it as well takes most of the time that a whole feed takes. */
const OF_DOCUMENT: ReadonlySet<string> = new Set<keyof FiberRow>([
  'id',
  'uid',
  'leaf',
  'name',
  'status',
  'tempered',
  'tags',
  'created_at',
  'updated_at',
  'closed_at',
  'outcome',
  'due',
  'horizon',
  'start',
  'collaboration',
  'svc',
  'project_dir',
]);

/** Whether two rows of one path tell the same. */
function isSameRow(known: FiberRow, row: FiberRow): boolean {
  return known.digest === row.digest && sameFields(known, row, OF_DOCUMENT);
}

const NO_ROWS: ReadonlyMap<string, FiberRow> = new Map();

/** The rows of a copy while an answer is applied: copied with the first one that changes. */
class Rows {
  readonly #before: ReadonlyMap<string, FiberRow>;
  #after: Map<string, FiberRow> | null = null;
  /** The keys of each host that told all of its rows. */
  readonly #told = new Map<string, readonly string[]>();

  constructor(before: ReadonlyMap<string, FiberRow>) {
    this.#before = before;
  }

  get now(): ReadonlyMap<string, FiberRow> {
    return this.#after ?? this.#before;
  }

  take(origin: string, read: FibersWhole | FibersDelta): void {
    if ('whole' in read) this.#told.set(origin, this.#put(origin, read.fibers));
    else {
      for (const path of read.removed) this.#remove(keyOf({ origin, path }));
      this.#put(origin, read.rows);
    }
  }

  /** Drops what a host did not tell any more that told all of its rows, and hosts that there are no more. */
  keepOnly(hosts: ReadonlyMap<string, unknown>): void {
    const told = [...this.#told.values()].reduce((count, keys) => count + keys.length, 0);
    // Where no row came or went, which is nearly always, that is known without a look at each.
    if (told === this.#before.size && this.now.size === this.#before.size) return;
    const kept = new Map([...this.#told].map(([origin, keys]) => [origin, new Set(keys)]));
    for (const [key, { origin }] of this.#before)
      if (!hosts.has(origin) || kept.get(origin)?.has(key) === false) this.#remove(key);
  }

  /** Answers the keys of the rows. A name may have characters that hide or turn what stands beside it. */
  #put(origin: string, rows: readonly Omit<FiberRow, 'origin'>[]): string[] {
    return rows.map((told) => {
      const row: FiberRow = Object.assign(told, { origin, name: escapeForTerminal(told.name) });
      const key = keyOf(row);
      const known = this.now.get(key);
      if (known === undefined || !isSameRow(known, row)) this.#write.set(key, row);
      return key;
    });
  }

  #remove(key: string): void {
    if (this.now.has(key)) this.#write.delete(key);
  }

  get #write(): Map<string, FiberRow> {
    this.#after ??= new Map(this.#before);
    return this.#after;
  }
}
