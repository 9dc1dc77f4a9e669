import { CodedError, isCoded } from '../base/errors.ts';
import { type LentBytes, Loan } from '../base/lent-bytes.ts';
import { Pieces } from '../http/pieces.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type RemotePart, silentParts } from './remote-parts.ts';

/** The copies of all remotes, and the tag that names them; null where there is none. */
export type RemoteCopies = { tag: string | null; parts: readonly RemotePart[] };

const NONE: RemoteCopies = { tag: null, parts: [] };

/** How long copies are remembered after somebody read all of them; who follows them needs only what changes. */
const KEPT_MS = 60_000;

/** The copies of the feeds of other hosts, which the fleet keeps: their tag, and their bytes for a composite. */
export class RemoteFeeds {
  readonly #fleet: Callers['fleet'];
  /** The names of all remotes, as the fleet told them last. */
  #names: string[] = [];
  #tag: string | null = null;
  readonly #followers = new Set<() => void>();
  /** All of the copies, asked for once for each tag. */
  #whole: { tag: string; answer: Promise<LentCopies> } | null = null;
  /** Those that came last, and the tag that named them. */
  #had: { tag: string; lent: LentCopies } | null = null;
  #asking: Promise<unknown> = Promise.resolve();

  readonly #clock: RouteContext['clock'];
  #forgetLater: () => void = () => undefined;

  constructor(fleet: Callers['fleet'], { host, clock }: Pick<RouteContext, 'host' | 'clock'>) {
    this.#fleet = fleet;
    this.#clock = clock;
    fleet.onEvent('remotes_changed', ({ remotes }) => {
      this.#names = remotes.map(({ name }) => name).filter((name) => name !== host);
    });
    fleet.onEvent('feeds_changed', ({ tag }) => this.#become(tag));
  }

  /** Names all copies and how fresh each is; null without a remote, and while the fleet is down. */
  get tag(): string | null {
    return this.#tag;
  }

  /** False where there are remotes whose copies nobody can name now. */
  get known(): boolean {
    return this.#tag !== null || this.#names.length === 0;
  }

  /** Calls `follow` after each change of the tag; the returned function ends that. */
  onChanged(follow: () => void): () => void {
    this.#followers.add(follow);
    return () => void this.#followers.delete(follow);
  }

  /** The fleet has gone; nothing is known of other hosts until the next one tells. */
  drop(): void {
    this.#had = null;
    this.#become(null);
  }

  /**
   * What changed after a tag, or all copies for an empty one. While the fleet is down each remote has no answer. The memory
   * of copies is lent: who does not use them (`Pieces.use`) at once, without waiting for anything else, reads what it has
   * become meanwhile.
   */
  async read(since: string): Promise<RemoteCopies> {
    if (this.#names.length === 0) return NONE;
    try {
      const changes = since === '' ? null : await this.#changes(since);
      if (changes !== null) return changes;
      this.#forgetLater();
      this.#forgetLater = this.#clock.after(KEPT_MS, () => this.#forget());
      return await this.#held();
    } catch (error) {
      if (!isCoded(error)) throw error;
      return { tag: null, parts: silentParts(this.#names, error) };
    }
  }

  /** All of the copies, held for the caller. */
  async #held(): Promise<RemoteCopies> {
    if (this.#tag === null) return (await this.#ask()).copies;
    if (this.#whole?.tag !== this.#tag) this.#whole = { tag: this.#tag, answer: this.#ask() };
    const whole = this.#whole;
    const lent = await whole.answer.catch((error: unknown) => {
      if (this.#whole === whole) this.#whole = null;
      this.#had = null;
      throw error;
    });
    if (lent.hold()) return lent.copies;
    // They have changed, and the fleet is about to tell so.
    if (this.#whole === whole) this.#whole = null;
    return this.#held();
  }

  /** One question at a time, since each builds on the one before. */
  #ask(): Promise<LentCopies> {
    const answer = this.#asking.then(() => this.#askNow());
    this.#asking = answer.catch(() => undefined);
    return answer;
  }

  async #askNow(): Promise<LentCopies> {
    const had = this.#had;
    const { value, parts: told } = await this.#fleet.exchange('feed_copies', { had: had?.tag ?? '' });
    const lent = new Map<string, LentCopy>();
    let next = 0;
    const parts = value.reads.map((remote): RemotePart => {
      const { name, state, last_ok_at, error, build } = remote;
      const origin = { state, last_ok_at, error, build };
      if (remote.copy === 'none') return { name, origin, read: null, digest: null };
      const copy = remote.copy === 'told' ? lentCopy(remote.around, told[next++]) : had?.lent.again(name);
      if (copy === undefined) throw new CodedError('internal', 'the fleet thread left out bytes of a copy');
      lent.set(name, copy);
      return { name, origin, read: copy.pieces, digest: null };
    });
    const answer = new LentCopies({ tag: value.tag, parts }, lent);
    this.#had = { tag: value.tag ?? '', lent: answer };
    return answer;
  }

  #forget(): void {
    this.#had = null;
    this.#whole = null;
  }

  /** What changed after a tag; null where nobody knows that any more. */
  async #changes(since: string): Promise<RemoteCopies | null> {
    const { value, bulk } = await this.#fleet.exchange('feeds', { since });
    if (value.reads === null) return null;
    let at = 0;
    const parts = value.reads.map(({ name, state, last_ok_at, error, build, length }) => {
      const read = length === null ? null : (bulk?.subarray(at, at + length) ?? null);
      at += length ?? 0;
      if (read !== null && read.length !== length)
        throw new CodedError('internal', 'the fleet thread left out bytes of a copy');
      return { name, origin: { state, last_ok_at, error, build }, read, digest: null };
    });
    return { tag: value.tag, parts };
  }

  #become(tag: string | null): void {
    if (this.#tag === tag) return;
    this.#tag = tag;
    this.#whole = null;
    for (const follow of this.#followers) follow();
  }
}

function lentCopy(around: [string, string], rows: LentBytes | undefined): LentCopy | undefined {
  return rows && new LentCopy(around, rows);
}

/** Copies as the fleet lent them. */
class LentCopies {
  readonly copies: RemoteCopies;
  readonly #lent: ReadonlyMap<string, LentCopy>;

  constructor(copies: RemoteCopies, lent: ReadonlyMap<string, LentCopy>) {
    this.copies = copies;
    this.#lent = lent;
  }

  /** Holds all of them once more; false where one has changed meanwhile. */
  hold(): boolean {
    return [...this.#lent.values()].every((copy) => copy.hold());
  }

  /** A copy that the fleet has lent again. */
  again(name: string): LentCopy | undefined {
    const copy = this.#lent.get(name);
    copy?.again();
    return copy;
  }
}

/** The copy of one host, held until the next turn and until nothing of it is to be sent. */
class LentCopy {
  readonly pieces: Pieces;
  readonly #loan: Loan;
  #returns = false;

  constructor([begin, end]: [string, string], rows: LentBytes) {
    this.pieces = new Pieces([Buffer.from(begin), rows.subarray(1), Buffer.from(end)]);
    this.#loan = new Loan(rows);
    this.#giveBackLater();
  }

  /** Holds it once more; false where it has changed meanwhile. */
  hold(): boolean {
    if (!this.#loan.hold()) return false;
    this.#giveBackLater();
    return true;
  }

  /** Takes over that the fleet has lent it again. */
  again(): void {
    this.#loan.again();
    this.#giveBackLater();
  }

  /** Once for all who read it meanwhile: one that is sent slowly may be read often. */
  #giveBackLater(): void {
    if (this.#returns) return;
    this.#returns = true;
    setImmediate(() =>
      this.pieces.whenUnused(() => {
        this.#returns = false;
        this.#loan.giveBack();
      }),
    );
  }
}

/** The copies of a fleet, which are not known while it is down. */
export function createRemoteFeeds(
  fleet: Callers['fleet'],
  context: Pick<RouteContext, 'components' | 'onChanged' | 'host' | 'clock'>,
): RemoteFeeds {
  const feeds = new RemoteFeeds(fleet, context);
  const view = () => context.components().find(({ name }) => name === 'fleet');
  let last = view();
  context.onChanged(() => {
    const now = view();
    if (now !== last && now?.state !== 'running' && now?.state !== 'starting') feeds.drop();
    last = now;
  });
  return feeds;
}

/** The tag of a composite: of the rows of this host, and with remotes of their copies too. */
export function compositeTag(own: string | null, remotes: string | null, known: boolean): string | null {
  if (own === null || !known) return null;
  return remotes === null ? own : `${own}${BETWEEN}${remotes}`;
}

/** The tags that such a tag was made of; that of the remotes is empty where it has none. */
export function partsOfTag(tag: string): { own: string; remotes: string } {
  const at = tag.lastIndexOf(BETWEEN);
  return at < 0 ? { own: tag, remotes: '' } : { own: tag.slice(0, at), remotes: tag.slice(at + 1) };
}

const BETWEEN = '~';
