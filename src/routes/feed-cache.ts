import { CodedError } from '../base/errors.ts';
import type { Reply } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

type Kept = { etag: string; reply: Reply };
type Asked = { notices: number; reply: Promise<Reply> };

/** One of the two bodiless feeds: its current tag, the bytes last seen, and a question under way. */
class Variant {
  tag: string | null = null;
  not_modified: Reply | null = null;
  kept: Kept | null = null;
  asked: Asked | null = null;

  become(tag: string | null): void {
    this.tag = tag;
    this.not_modified = tag === null ? null : { status: 304, empty: true, etag: tag };
    if (this.kept?.etag !== tag) this.kept = null;
  }
}

/**
 * The encoded feed on the main thread: the poller says when its tags change, and its bytes are fetched at
 * most once for each. Nothing is kept from a poller that has died: a stale feed must not look alive.
 */
export class FeedCache {
  #poller: Callers['poller'];
  #variants = { all: new Variant(), svc: new Variant() };
  /** Counts what may outdate an answer that is under way: notices, and deaths of the poller. */
  #notices = 0;

  constructor(poller: Callers['poller']) {
    this.#poller = poller;
    poller.onEvent('feed_changed', ({ etags }) => {
      this.#notices += 1;
      this.#variants.all.become(etags.all);
      this.#variants.svc.become(etags.svc);
    });
  }

  /** The poller has gone; every read asks the next one. */
  drop(): void {
    this.#notices += 1;
    this.#variants = { all: new Variant(), svc: new Variant() };
  }

  /** The current tag and the answer to who has it already; null while cold or without a poller. */
  current(svc: boolean): { etag: string; not_modified: Reply } | null {
    const { tag, not_modified } = this.#variant(svc);
    return tag === null || not_modified === null ? null : { etag: tag, not_modified };
  }

  /** The feed: at once when its bytes are here, else from the poller, asked once for all who wait. */
  read(svc: boolean): Reply | Promise<Reply> {
    const variant = this.#variant(svc);
    if (variant.kept !== null) return variant.kept.reply;
    if (variant.asked?.notices === this.#notices) return variant.asked.reply;
    const asked: Asked = { notices: this.#notices, reply: this.#ask(variant, svc) };
    variant.asked = asked;
    const forget = () => {
      if (variant.asked === asked) variant.asked = null;
    };
    asked.reply.then(forget, forget);
    return asked.reply;
  }

  /** The feed with bodies; large and rarely asked for, so nothing of it is kept. */
  readWithBodies(svc: boolean): Promise<Reply> {
    return this.#fetch(svc, true).then(({ reply }) => reply);
  }

  async #ask(variant: Variant, svc: boolean): Promise<Reply> {
    const notices = this.#notices;
    const { etag, reply } = await this.#fetch(svc, false);
    // Without a notice since, the answer is the newest word on the tag.
    if (notices === this.#notices && variant.tag !== etag) variant.become(etag);
    if (etag !== null && variant.tag === etag) variant.kept = { etag, reply };
    return reply;
  }

  async #fetch(svc: boolean, body: boolean): Promise<{ etag: string | null; reply: Reply }> {
    const { value, bulk } = await this.#poller.exchange('feed', { svc, body });
    if (bulk === null) throw new CodedError('internal', 'the poller answered without the bytes of the feed');
    const { etag } = value;
    return { etag, reply: { status: 200, bytes: bulk, content_type: 'application/json', etag } };
  }

  #variant(svc: boolean): Variant {
    return svc ? this.#variants.svc : this.#variants.all;
  }
}

/** The feed of a poller, which goes with it. */
export function createFeedCache(
  poller: Callers['poller'],
  context: Pick<RouteContext, 'components' | 'onChanged'>,
): FeedCache {
  const feed = new FeedCache(poller);
  const isRunning = () =>
    context.components().some((view) => view.name === 'poller' && view.state === 'running');
  let was_running = isRunning();
  context.onChanged(() => {
    const running = isRunning();
    if (was_running && !running) feed.drop();
    was_running = running;
  });
  return feed;
}
