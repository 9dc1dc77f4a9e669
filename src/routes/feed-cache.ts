import { CodedError } from '../base/errors.ts';
import { Pieces } from '../http/pieces.ts';
import type { Reply } from '../http/reply.ts';
import type { Callers } from './callers.ts';
import { type Here, wrapRead } from './composite.ts';
import type { RouteContext } from './context.ts';
import {
  answeredDelta,
  encodeDelta,
  etagOf,
  type FeedVariant,
  FeedWindow,
  tagOf,
  unquoted,
  weakTag,
} from './feed-window.ts';
import { compositeTag, partsOfTag, type RemoteFeeds } from './remote-feeds.ts';
import type { RemotePart } from './remote-parts.ts';

type Body = { etag: string | null; bytes: Uint8Array; reply: Reply };
/** An answer to `since`: its body, and the tag that it leads to. */
type Changes = { etag: string | null; reply: Reply; body: Uint8Array | Pieces };
type Asked = { notices: number; body: Promise<Body> };

/** The encoded feed of a host with few rows: that it is read as a whole need not be asked of the poller. */
const WHOLE_BYTES = 128 * 1024;

/** A move of one variant of the feed, for who follows it. Tags are without quotes. */
export type FeedMove = {
  /** The tag before; null while the feed was cold or unknown. */
  since: string | null;
  /** The tag now; null while the feed is cold, or its thread is gone. */
  tag: string | null;
  /** The body of `GET /fibers?since=` for who has `since`; null where the whole feed has to be read. */
  delta: Uint8Array | null;
};

/** One of the two bodiless feeds: its current tag, the bytes last seen, and a question under way. */
class Variant {
  tag: string | null = null;
  not_modified: Reply | null = null;
  kept: Body | null = null;
  asked: Asked | null = null;
  /** The answers to `since` that are the whole feed, of the bodies that they are made of. */
  readonly wholes = new WeakMap<Uint8Array, Changes>();

  become(tag: string | null): void {
    this.tag = tag;
    this.not_modified = tag === null ? null : { status: 304, empty: true, etag: tag };
    if (this.kept?.etag !== tag) this.kept = null;
  }
}

/**
 * The encoded feed on the main thread: the poller says when it changes and what, and its bytes are fetched at
 * most once for each tag. Nothing is kept from a poller that has died: a stale feed must not look alive.
 */
export class FeedCache {
  readonly #host: string;
  #poller: Callers['poller'];
  #variants = { all: new Variant(), svc: new Variant() };
  readonly #window = new FeedWindow();
  /** The last one with these copies of other hosts, which are not kept for it. */
  readonly #composites = new WeakMap<readonly RemotePart[], { since: string; own: Reply; reply: Reply }>();
  readonly #followers = {
    all: new Set<(move: FeedMove) => void>(),
    svc: new Set<(move: FeedMove) => void>(),
  };
  /** Counts what may outdate an answer that is under way: notices, and deaths of the poller. */
  #notices = 0;

  constructor(poller: Callers['poller'], host: string) {
    this.#host = host;
    this.#poller = poller;
    poller.onEvent('feed_changed', (notice, bytes) => {
      this.#notices += 1;
      this.#window.push(notice, bytes);
      for (const variant of VARIANTS) this.#become(variant, notice.etags[variant]);
    });
  }

  /** The poller has gone; every read asks the next one. */
  drop(): void {
    this.#notices += 1;
    this.#window.clear();
    for (const variant of VARIANTS) this.#become(variant, null);
    this.#variants = { all: new Variant(), svc: new Variant() };
  }

  /** Calls `follow` with each move of one variant, encoded once for all who follow; the returned function ends that. */
  onDelta(variant: FeedVariant, follow: (move: FeedMove) => void): () => void {
    this.#followers[variant].add(follow);
    return () => void this.#followers[variant].delete(follow);
  }

  /** The current tag and the answer to who has it already; null while cold or without a poller. */
  current(svc: boolean): { etag: string; not_modified: Reply } | null {
    const { tag, not_modified } = this.#variant(svc);
    return tag === null || not_modified === null ? null : { etag: tag, not_modified };
  }

  /** The feed: at once when its bytes are here, else from the poller, asked once for all who wait. */
  read(svc: boolean): Reply | Promise<Reply> {
    const body = this.#body(svc);
    return body instanceof Promise ? body.then(({ reply }) => reply) : body.reply;
  }

  /** What changed after a tag: at once when that was lately, else the poller is asked; or the whole feed. */
  since(tag: string, svc: boolean): Promise<Reply> {
    return this.#since(tag, svc).then(({ reply }) => reply);
  }

  /**
   * A composite of the rows of this host that a board shows first; that of all rows of all hosts where this host is cold or
   * has few.
   */
  async first(here: Here, remotes: RemoteFeeds): Promise<Reply> {
    const { kept } = this.#variant(false);
    if (kept === null || kept.bytes.byteLength > WHOLE_BYTES) {
      const { bulk } = await this.#poller.exchange('feed_first', {});
      if (bulk !== null)
        return {
          status: 200,
          pieces: wrapRead(here, bulk, { tag: null }),
          content_type: 'application/json',
        };
    }
    return this.composite('', here, remotes);
  }

  /** The composite of `since`, or of the whole feeds without a tag. */
  async composite(since: string, here: Here, remotes: RemoteFeeds): Promise<Reply> {
    const parts = partsOfTag(unquoted(since));
    const { etag, reply, body } = await this.#since(parts.own, false);
    // Last: these copies are lent, until the answer that is made of them is on its way.
    const others = await remotes.read(parts.remotes);
    const own = etag === null ? null : tagOf(etag);
    const tag = compositeTag(own, others.tag, others.tag !== null || others.parts.length === 0);
    const known = this.#composites.get(others.parts);
    if (known?.own === reply && known.since === since) return known.reply;
    const pieces = wrapRead(here, body, { tag }, others.parts);
    const head = { status: 200, pieces, content_type: 'application/json' };
    const composite: Reply = since === '' && tag !== null ? { ...head, etag: weakTag(`"${tag}"`) } : head;
    this.#composites.set(others.parts, { since, own: reply, reply: composite });
    return composite;
  }

  async #since(tag: string, svc: boolean): Promise<Changes> {
    const [etag, variant] = [etagOf(tag), svc ? 'svc' : 'all'] as const;
    let delta = this.#window.since(etag, variant);
    if (delta === null && tag !== '') {
      const { value, bulk } = await this.#poller.exchange('feed_changes', { svc, since: etag });
      delta = answeredDelta(value, bulk, variant);
    }
    if (delta === null) return this.#whole(svc);
    const bytes = encodeDelta(this.#host, delta);
    const reply: Reply = { status: 200, bytes, content_type: 'application/json' };
    return { etag: delta.etag, reply, body: bytes };
  }

  /** The feed with bodies; large and rarely asked for, so nothing of it is kept. */
  readWithBodies(svc: boolean): Promise<Reply> {
    return this.#fetch(svc, true).then(({ reply }) => reply);
  }

  #become(name: FeedVariant, etag: string | null): void {
    const variant = this.#variants[name];
    const before = variant.tag;
    variant.become(etag);
    const followers = this.#followers[name];
    if (before === etag || followers.size === 0) return;
    const delta = before === null ? null : this.#window.since(before, name);
    const move = {
      since: before === null ? null : tagOf(before),
      tag: etag === null ? null : tagOf(etag),
      delta: delta === null ? null : encodeDelta(this.#host, delta),
    };
    for (const follow of followers) follow(move);
  }

  async #whole(svc: boolean): Promise<Changes> {
    const { etag, bytes } = await this.#body(svc);
    const { wholes } = this.#variant(svc);
    const known = wholes.get(bytes);
    if (known !== undefined) return known;
    const head = JSON.stringify({ tag: etag === null ? null : tagOf(etag), whole: true });
    const pieces = new Pieces([Buffer.from(`${head.slice(0, -1)},`), bytes.subarray(1)]);
    const reply: Reply = { status: 200, pieces, content_type: 'application/json' };
    const whole = { etag, reply, body: pieces };
    wholes.set(bytes, whole);
    return whole;
  }

  #body(svc: boolean): Body | Promise<Body> {
    const variant = this.#variant(svc);
    if (variant.kept !== null) return variant.kept;
    if (variant.asked?.notices === this.#notices) return variant.asked.body;
    const asked: Asked = { notices: this.#notices, body: this.#ask(variant, svc) };
    variant.asked = asked;
    const forget = () => {
      if (variant.asked === asked) variant.asked = null;
    };
    asked.body.then(forget, forget);
    return asked.body;
  }

  async #ask(variant: Variant, svc: boolean): Promise<Body> {
    const notices = this.#notices;
    const body = await this.#fetch(svc, false);
    // Without a notice since, the answer is the newest word on the tag.
    if (notices === this.#notices && variant.tag !== body.etag) variant.become(body.etag);
    if (body.etag !== null && variant.tag === body.etag) variant.kept = body;
    return body;
  }

  async #fetch(svc: boolean, body: boolean): Promise<Body> {
    const { value, bulk } = await this.#poller.exchange('feed', { svc, body });
    if (bulk === null) throw new CodedError('internal', 'the poller answered without the bytes of the feed');
    const { etag } = value;
    const reply: Reply = { status: 200, bytes: bulk, content_type: 'application/json', etag };
    return { etag, bytes: bulk, reply };
  }

  #variant(svc: boolean): Variant {
    return svc ? this.#variants.svc : this.#variants.all;
  }
}

const VARIANTS = ['all', 'svc'] as const;

/** The feed of a poller, which goes with it. */
export function createFeedCache(
  poller: Callers['poller'],
  context: Pick<RouteContext, 'components' | 'onChanged' | 'host'>,
): FeedCache {
  const feed = new FeedCache(poller, context.host);
  const view = () => context.components().find(({ name }) => name === 'poller');
  let last = view();
  context.onChanged(() => {
    const now = view();
    // A life may end before it was ready, and has told of its feed by then.
    if (now !== last && now?.state !== 'running' && now?.state !== 'starting') feed.drop();
    last = now;
  });
  return feed;
}
