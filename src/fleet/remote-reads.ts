import { type Clock, within } from '../base/clock.ts';
import { isCoded, messageOf } from '../base/errors.ts';
import type { Origin } from '../contract/http/composite.ts';
import { addressFault } from '../contract/remote-address.ts';
import type { AskedRead, Remote } from '../contract/threads/fleet.ts';
import { type Copy, type CopyFiles, digestOf } from './copy-files.ts';
import { misdirected, type Place, type ReadAnswer, unreadable } from './read-remote.ts';
import { faultOfRead, nearestCopy, type Question, questionOf } from './remote-question.ts';

/** Most open requests to one remote, so that one that hangs holds a bounded amount. */
const MOST_OPEN = 8;
/** Most kept answers of one feed of one remote. */
const MOST_COPIES = 12;
const MOST_COPIES_BYTES = 64 * 1024 * 1024;
/** Most questions about one feed of one remote that are remembered. */
const MOST_QUESTIONS = 64;
/** Most bytes of the answers in one composite. */
const MOST_SENT_BYTES = 256 * 1024 * 1024;
/** Most bytes of answers in memory. */
const MOST_HELD_BYTES = 32 * 1024 * 1024;

/** In milliseconds. */
export type ReadTimes = {
  /** How long an answer is reused without a new request. */
  reuse_ms: number;
  /** How long a caller waits for an answer. */
  answer_ms: number;
  /** The age from which an answer is stale. */
  stale_ms: number;
};

/** The read of one remote; `bytes` is null where there are none, or the caller has them. */
export type ReadOfRemote = Omit<Origin, 'read'> & {
  name: string;
  /** Digest of the bytes; null if there are none. */
  digest: string | null;
  bytes: Uint8Array | null;
};

/** What is known of one question to one remote. */
type Entry = {
  question: Question;
  /** Null before the first request. */
  asked_at: number | null;
  asking: Promise<void> | null;
  error: Origin['error'];
  copy: Copy | null;
};

/** What was asked and kept of one feed of one remote; the entry that was wanted last is the last one. */
type Shelf = { feed: string; entries: Map<string, Entry> };

/**
 * Reads of remotes for composites: each is asked when it is wanted, at most once in a while for the same question, and its
 * last good answer is taken where it does not answer in time (TMP-8).
 */
export class RemoteReads {
  readonly #ask: (to: Place, path: string, etag: string | null) => Promise<ReadAnswer>;
  readonly #remotes: () => readonly Remote[];
  readonly #buildOf: (name: string) => string | null;
  readonly #files: CopyFiles;
  readonly #times: ReadTimes;
  readonly #clock: Clock;
  readonly #shelves = new Map<string, Shelf>();
  /** Open requests, by remote. */
  readonly #open = new Map<string, number>();
  /** Answers in memory, the one longest unused first. */
  readonly #held = new Map<Copy, Uint8Array>();
  #heldBytes = 0;
  /** Copies of an earlier life, which had other rules perhaps, until they were checked. */
  readonly #unchecked = new WeakSet<Copy>();

  constructor(options: {
    /** Asks one remote; as `readRemote`. */
    ask(to: Place, path: string, etag: string | null): Promise<ReadAnswer>;
    /** The configured remotes as of now, without this host. */
    remotes(): readonly Remote[];
    /** The build of a remote as it told it last; null where it has not. */
    buildOf(name: string): string | null;
    files: CopyFiles;
    times: ReadTimes;
    clock: Clock;
  }) {
    this.#ask = options.ask;
    this.#remotes = options.remotes;
    this.#buildOf = options.buildOf;
    this.#files = options.files;
    this.#times = options.times;
    this.#clock = options.clock;
    this.#files.sweep(this.#clock.now());
  }

  /**
   * The reads of all remotes, in the order of the configuration, within the time for an answer; without the bytes of those
   * whose digest is `known`. Never rejects.
   */
  async read(asked: AskedRead, known: ReadonlySet<string> = new Set()): Promise<ReadOfRemote[]> {
    const question = questionOf(asked);
    const found = await Promise.all(this.#remotes().map((remote) => this.#find(remote, question)));
    let left = MOST_SENT_BYTES;
    const readOf = async ({ shelf, name, copy, error }: Found): Promise<ReadOfRemote> => {
      const build = this.#buildOf(name);
      const without = (error: Origin['error']): ReadOfRemote => ({
        ...{ name, state: 'no_answer', last_ok_at: null, error, build, digest: null, bytes: null },
      });
      if (copy === null) return without(error);
      // A time that is still to come was told by a clock that was set back since.
      const isStale = Math.abs(this.#clock.now() - copy.last_ok_at) > this.#times.stale_ms;
      const { last_ok_at, digest, size } = copy;
      const head = {
        name,
        state: isStale ? 'stale' : 'fresh',
        last_ok_at,
        error,
        build,
        digest,
      } as const;
      if (known.has(digest)) return { ...head, bytes: null };
      if (size > left)
        return without({
          code: 'memory_full',
          message: `The answers of all hosts together have more than ${MOST_SENT_BYTES} bytes; ask ${name} itself.`,
        });
      left -= size;
      const bytes = await this.#bytesOf(shelf, copy);
      return bytes === null ? without(error ?? this.#lost(shelf, copy)) : { ...head, bytes };
    };
    return Promise.all(found.map(readOf));
  }

  /** Asks the remote if that is due, and finds the best copy after that. */
  async #find(remote: Remote, question: Question): Promise<Found> {
    const { name, address, problem } = remote;
    const shelf = this.#shelf(question.feed, name);
    const entry = entryOf(shelf, question);
    const error =
      address === null ? addressFault(name, problem) : await this.#askIfDue({ name, address }, shelf, entry);
    const all = [...shelf.entries.values()].flatMap(({ copy }) => copy ?? []);
    return { shelf, name, error, copy: entry.copy ?? nearestCopy(question, all) };
  }

  /** Resolves to why there is no new answer, in time; null where there is one, or the last one is to be used again. */
  async #askIfDue(to: Place, shelf: Shelf, entry: Entry): Promise<Origin['error']> {
    const { reuse_ms, answer_ms } = this.#times;
    const since = entry.asked_at === null ? null : this.#clock.now() - entry.asked_at;
    // A clock that was set back must not keep a remote from being polled.
    if (entry.asking === null && (since === null || since >= reuse_ms || since < 0)) {
      if ((this.#open.get(to.name) ?? 0) >= MOST_OPEN)
        return {
          code: 'queue_full',
          message: `${to.name} has ${MOST_OPEN} requests of this daemon that wait for an answer; check whether it is overloaded.`,
        };
      this.#begin(to, shelf, entry);
    }
    const { asking, asked_at } = entry;
    if (asking === null) return entry.error;
    // Nor keep anybody waiting for longer.
    const left = Math.min(answer_ms, (asked_at ?? 0) + answer_ms - this.#clock.now());
    if (left > 0) await within(this.#clock, left, asking);
    if (entry.asking === null) return entry.error;
    return { code: 'deadline_exceeded', message: `${to.name} did not answer within ${answer_ms / 1_000} s.` };
  }

  /** Its file was removed or damaged: the remote is asked again the next time. */
  #lost(shelf: Shelf, copy: Copy): Origin['error'] {
    const entry = shelf.entries.get(copy.path);
    if (entry?.copy === copy) Object.assign(entry, { copy: null, asked_at: null });
    return {
      code: 'file_unavailable',
      message: `The last answer of ${copy.host} was removed here; ask again.`,
    };
  }

  #begin(to: Place, shelf: Shelf, entry: Entry): void {
    entry.asked_at = this.#clock.now();
    this.#open.set(to.name, (this.#open.get(to.name) ?? 0) + 1);
    const asking = this.#answer(to, shelf, entry)
      .then(
        () => {
          entry.error = null;
        },
        (error: unknown) => {
          const code = isCoded(error) ? error.code : 'internal';
          entry.error = { code, message: messageOf(error) };
        },
      )
      .finally(() => {
        entry.asking = null;
        const open = (this.#open.get(to.name) ?? 1) - 1;
        if (open === 0) this.#open.delete(to.name);
        else this.#open.set(to.name, open);
      });
    entry.asking = asking;
  }

  async #answer(to: Place, shelf: Shelf, entry: Entry): Promise<void> {
    const before = entry.copy;
    const has = before !== null && (await this.#isThere(shelf, before));
    const { bytes, etag } = await this.#ask(to, entry.question.path, has ? before.etag : null);
    const now = this.#clock.now();
    if (bytes === null) {
      if (before === null) throw unreadable(to, 'it answered 304 to a request without a tag');
      entry.copy = this.#dated(shelf, before, now);
      return;
    }
    const { feed, path, window } = entry.question;
    const fault = await faultOfRead(feed, to.name, bytes);
    if (fault === 'shape')
      throw unreadable(to, `its answer to GET ${path.split('?')[0]} does not have the expected form`);
    if (fault !== null) throw misdirected(to, fault.host);
    const digest = digestOf(bytes);
    if (before?.digest === digest && before.etag === etag) {
      entry.copy = this.#dated(shelf, before, now);
      return;
    }
    const copy: Copy = { host: to.name, path, window, etag, digest, size: bytes.length, last_ok_at: now };
    if (before !== null) this.#letGo(before);
    this.#hold(copy, bytes);
    this.#files.write(feed, copy, bytes);
    entry.copy = copy;
    this.#makeRoom(shelf, entry);
  }

  /** The same copy with the current time of confirmation. */
  #dated(shelf: Shelf, before: Copy, now: number): Copy {
    const copy = { ...before, last_ok_at: now };
    const held = this.#held.get(before);
    this.#letGo(before);
    if (held !== undefined) this.#hold(copy, held);
    this.#files.confirm(shelf.feed, copy, now);
    return copy;
  }

  async #isThere(shelf: Shelf, copy: Copy): Promise<boolean> {
    if (this.#held.has(copy)) return true;
    return this.#unchecked.has(copy)
      ? (await this.#bytesOf(shelf, copy)) !== null
      : this.#files.has(shelf.feed, copy);
  }

  #shelf(feed: string, name: string): Shelf {
    const key = JSON.stringify([feed, name]);
    const known = this.#shelves.get(key);
    if (known !== undefined) return known;
    const shelf: Shelf = { feed, entries: new Map() };
    const copies = this.#files.copiesOf(feed, name).sort((a, b) => a.last_ok_at - b.last_ok_at);
    for (const copy of copies) {
      const { path, window } = copy;
      this.#unchecked.add(copy);
      const question = { feed: feed as Question['feed'], path, window };
      shelf.entries.set(path, { question, asked_at: null, asking: null, error: null, copy });
    }
    this.#shelves.set(key, shelf);
    return shelf;
  }

  async #bytesOf({ feed }: Shelf, copy: Copy): Promise<Uint8Array | null> {
    const held = this.#held.get(copy);
    if (held !== undefined) {
      this.#held.delete(copy);
      this.#held.set(copy, held);
      return held;
    }
    const bytes = this.#files.read(feed, copy);
    if (bytes === null) return null;
    if (this.#unchecked.has(copy)) {
      if ((await faultOfRead(feed as Question['feed'], copy.host, bytes)) !== null) return null;
      // Another reader may have put it into memory meanwhile.
      if (!this.#unchecked.delete(copy)) return bytes;
    }
    this.#hold(copy, bytes);
    return bytes;
  }

  #hold(copy: Copy, bytes: Uint8Array): void {
    this.#held.set(copy, bytes);
    this.#heldBytes += bytes.length;
    for (const oldest of this.#held.keys()) {
      if (this.#heldBytes <= MOST_HELD_BYTES) return;
      this.#letGo(oldest);
    }
  }

  #letGo(copy: Copy): void {
    const held = this.#held.get(copy);
    if (held === undefined) return;
    this.#held.delete(copy);
    this.#heldBytes -= held.length;
  }

  /** Removes the copies that were confirmed longest ago, but not that of `kept`. */
  #makeRoom(shelf: Shelf, kept: Entry): void {
    const others = [...shelf.entries.values()]
      .flatMap((entry) => (entry.copy === null || entry === kept ? [] : [{ entry, copy: entry.copy }]))
      .sort((a, b) => b.copy.last_ok_at - a.copy.last_ok_at);
    let bytes = kept.copy?.size ?? 0;
    others.forEach(({ entry, copy }, index) => {
      bytes += copy.size;
      if (index + 1 < MOST_COPIES && bytes <= MOST_COPIES_BYTES) return;
      this.#letGo(copy);
      this.#files.remove(shelf.feed, copy);
      entry.copy = null;
    });
  }
}

type Found = { shelf: Shelf; name: string; copy: Copy | null; error: Origin['error'] };

/** The entry of a question, now the last one; of too many, those without a copy are forgotten. */
function entryOf({ entries }: Shelf, question: Question): Entry {
  const { path } = question;
  const known = entries.get(path);
  entries.delete(path);
  if (known === undefined && entries.size >= MOST_QUESTIONS)
    for (const [oldest, { asking, copy }] of entries)
      if (asking === null && copy === null) {
        entries.delete(oldest);
        break;
      }
  const entry = known ?? { question, asked_at: null, asking: null, error: null, copy: null };
  entries.set(path, entry);
  return entry;
}
