import { ownRead } from '../model/composite.ts';
import {
  BOOTING_MS,
  BUSY_MS,
  type Contact,
  isHeard,
  LATE_MS,
  LIVE_ASK_MS,
  PAINT_MS,
  POLL_MS,
  retryAfter,
  SILENT_MS,
} from '../model/contact.ts';
import { applyAnswer, applyMessage, type FeedCopy } from '../model/feed-copy.ts';
import type { Booting, FibersComposite, LiveMessage } from '../model/wire.ts';

/** How `GET /fibers/composite?since=` was answered. */
export type Answer =
  | { kind: 'feed'; feed: FibersComposite }
  /** Nothing has changed since. */
  | { kind: 'same' }
  | { kind: 'booting'; booting: Booting }
  | { kind: 'refused'; message: string }
  | { kind: 'gone' };

export type Socket = { close(): void };

/** What following a feed needs of its surroundings. */
export type Surroundings = {
  /** What changed after a tag; the whole feed for an empty one, and what a board shows first for null. */
  ask(since: string | null): Promise<Answer>;
  open(on: { message(message: LiveMessage): void; closed(): void }): Socket;
  now(): number;
  /** Keeps a copy for a page that is loaded while the daemon is gone. */
  keep(kept: KeptFeed): void;
  /** What was kept last; null for nothing. */
  kept(): Promise<KeptFeed | null>;
  /** Runs something later; answers how to call it off. */
  after(ms: number, run: () => void): () => void;
};

/** A copy, and when it was last known to be that of the daemon. */
export type KeptFeed = { copy: FeedCopy; heard_at: number };

export type Followed = {
  copy: FeedCopy | null;
  /** The rows that are shown until the first copy is whole; null for none. */
  first: FeedCopy | null;
  contact: Contact;
  /** When the copy was last known to be that of the daemon, as of the last change of the others; null before the first feed. */
  heard_at: number | null;
};

/** What a card can be shown of: a copy that is whole, or the first rows until there is one. */
export function shownOf({ copy, first }: Followed): FeedCopy | null {
  return copy ?? first;
}

/**
 * Keeps a copy of the feed: reads what is shown first, then it whole once, then only what changed, by the socket as long
 * as there is one. One question is under way at a time.
 */
export class FeedFollower {
  readonly #in: Surroundings;
  readonly #changed: () => void;
  #followed: Followed = { copy: null, first: null, contact: { kind: 'first_load' }, heard_at: null };
  /** Kept apart, so that a message that changes nothing draws nothing. */
  #heardAt: number | null = null;
  #socket: Socket | null = null;
  #endListening: () => void = () => undefined;
  #asking = false;
  #again = false;
  #failures = 0;
  #callOff: () => void = () => undefined;
  #stopped = false;

  constructor(surroundings: Surroundings, changed: () => void) {
    this.#in = surroundings;
    this.#changed = changed;
  }

  get followed(): Followed {
    return this.#followed;
  }

  /** Asks what changed, now; also to begin. */
  async ask(): Promise<void> {
    if (this.#stopped) return;
    this.#noticeSilence();
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#callOff();
    this.#asking = true;
    this.#again = false;
    const { copy, first } = this.#followed;
    const answer = await this.#in.ask(copy === null && first === null ? null : (copy?.tag ?? ''));
    this.#asking = false;
    if (this.#stopped) return;
    this.#hear(answer);
  }

  /** A page that slept, or a daemon that hangs: what is shown is old until the daemon is heard again. */
  #noticeSilence(): void {
    const { contact } = this.#followed;
    if (!isHeard(contact) || this.#heardAt === null) return;
    const most = contact.kind === 'live' ? SILENT_MS : LATE_MS;
    if (this.#in.now() - this.#heardAt >= most) this.#become({ contact: { kind: 'late' } });
  }

  /** Asks as soon as the open socket was silent for too long. */
  #listen(): void {
    this.#endListening();
    const now = this.#in.now();
    const wait = Math.max((this.#heardAt ?? now) + SILENT_MS - now, BUSY_MS);
    this.#endListening = this.#in.after(wait, () => {
      const late = this.#in.now() - (now + wait) >= BUSY_MS;
      if (!late) this.#noticeSilence();
      if (this.#followed.contact.kind === 'late') void this.ask();
      else this.#listen();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#callOff();
    this.#hangUp();
  }

  #hear(answer: Answer): void {
    const { copy } = this.#followed;
    if (answer.kind === 'same') this.#heard(copy);
    else if (answer.kind === 'feed') {
      const { read, refusal } = ownRead(answer.feed);
      const told = applyAnswer(refusal === null ? shownOf(this.#followed) : copy, answer.feed);
      if (read !== null && 'of' in read) this.#begin(told);
      else if (refusal === null) this.#heard(told);
      else {
        if (copy !== null || told.rows.size > 0) this.#become({ copy: told });
        this.#silent({ kind: 'refused', message: refusal.message });
      }
    } else this.#silent(answer);
  }

  /** Some rows are there to be shown; all of them are asked for once the page has had time to paint them. */
  #begin(first: FeedCopy): void {
    this.#heardAt = this.#in.now();
    this.#become({ first, contact: { kind: 'polling' } });
    this.#askAfter(PAINT_MS);
  }

  #heard(copy: FeedCopy | null): void {
    this.#failures = 0;
    this.#heardAt = this.#in.now();
    // The daemon answers, and its socket is silent: nobody may have told this page that the connection is dead.
    if (this.#followed.contact.kind === 'late') this.#hangUp();
    this.#socket ??= this.#open();
    const contact =
      this.#followed.contact.kind === 'live' ? this.#followed.contact : { kind: 'polling' as const };
    this.#become({ copy, first: null, contact });
    if (this.#again) void this.ask();
    else this.#askAfter(contact.kind === 'live' ? LIVE_ASK_MS : POLL_MS);
  }

  #silent(answer: Exclude<Answer, { kind: 'feed' | 'same' }>): void {
    this.#hangUp();
    void this.#keepOrRecall();
    if (answer.kind === 'booting') {
      this.#failures = 0;
      const { host, boot_ms } = answer.booting;
      this.#become({ contact: { kind: 'booting', host, boot_ms } });
      this.#askAfter(BOOTING_MS);
      return;
    }
    this.#failures += 1;
    const wait = retryAfter(this.#failures);
    const retry_at = this.#in.now() + wait;
    this.#become({
      contact:
        answer.kind === 'gone'
          ? { kind: 'gone', retry_at }
          : { kind: 'refused', message: answer.message, retry_at },
    });
    this.#askAfter(wait);
  }

  /** A page that is loaded while the daemon does not answer shows what the last page showed of it. */
  async #keepOrRecall(): Promise<void> {
    const { copy, contact } = this.#followed;
    if (copy !== null && this.#heardAt !== null) {
      if (contact.kind !== 'gone') this.#in.keep({ copy, heard_at: this.#heardAt });
      return;
    }
    const kept = await this.#in.kept();
    if (kept === null || this.#followed.copy !== null || this.#stopped) return;
    this.#heardAt = kept.heard_at;
    this.#become({ copy: kept.copy });
  }

  #open(): Socket {
    const socket = this.#in.open({
      message: (message) => {
        if (this.#socket === socket) this.#take(message);
      },
      closed: () => {
        if (this.#socket !== socket) return;
        this.#hangUp();
        if (this.#followed.contact.kind !== 'live') return;
        this.#become({ contact: { kind: 'polling' } });
        void this.ask();
      },
    });
    return socket;
  }

  #take(message: LiveMessage): void {
    const { copy } = this.#followed;
    if (copy === null) return;
    this.#heardAt = this.#in.now();
    const after = applyMessage(copy, message);
    const wasLive = this.#followed.contact.kind === 'live';
    if (typeof after === 'object') this.#become({ copy: after, contact: { kind: 'live' } });
    else if (!wasLive) this.#become({ contact: { kind: 'live' } });
    if (!wasLive) this.#listen();
    if (after === 'read') void this.ask();
  }

  /** The connection of a daemon that is not heard may be dead as well, without anybody having said so. */
  #hangUp(): void {
    this.#endListening();
    this.#socket?.close();
    this.#socket = null;
  }

  #askAfter(ms: number): void {
    this.#callOff();
    this.#callOff = this.#in.after(ms, () => void this.ask());
  }

  #become(change: Partial<Followed>): void {
    this.#followed = { ...this.#followed, ...change, heard_at: this.#heardAt };
    this.#changed();
  }
}
