import { CodedError } from '../base/errors.ts';
import type { LedgerStamps } from '../contract/ledger-tags.ts';
import { Pieces } from '../http/pieces.ts';
import { namesTag } from '../http/prepared-reply.ts';
import type { Reply } from '../http/reply.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const KEPT_BODIES = 8;
const KEPT_BYTES = 32 * 1024 * 1024;

/** What makes one body: its tag by the files, and the call to the ledgers thread that encodes it. */
export type LedgerBody = {
  tag(stamps: LedgerStamps): string;
  make(): Promise<{ etag: string; body: Uint8Array | Pieces }>;
};

/** A body that comes whole from the ledgers thread. */
export async function wholeBody(
  exchange: Promise<{ value: { etag: string }; bulk: Uint8Array | null }>,
): Promise<{ etag: string; body: Uint8Array }> {
  const { value, bulk } = await exchange;
  if (bulk !== null) return { etag: value.etag, body: bulk };
  throw new CodedError('internal', 'the ledgers thread answered without the bytes of a body');
}

/**
 * Encoded bodies of the time routes by their tags. The ledgers thread tells when a file changes, so who has the present
 * tag is answered here at once, and so is who asks for one of the last bodies; each other one is encoded on that thread,
 * once for all who wait for it.
 */
export class LedgerBodies {
  /** Null until that thread has told, and after it has gone: a stale tag must not look current. */
  #stamps: LedgerStamps | null = null;
  readonly #kept = new Map<string, Reply>();
  readonly #asked = new Map<string, Promise<Reply>>();
  #keptBytes = 0;

  constructor(ledgers: Callers['ledgers'], context: Pick<RouteContext, 'components' | 'onChanged'>) {
    ledgers.onEvent('ledgers_changed', (stamps) => this.#become(stamps));
    context.onChanged(() => {
      const gone = context.components().some(({ name, state }) => name === 'ledgers' && state !== 'running');
      if (gone) this.#become(null);
    });
  }

  /** The present tag of a body; null until that thread has told of its files. */
  tagOf(body: LedgerBody): string | null {
    return this.#stamps === null ? null : body.tag(this.#stamps);
  }

  read(body: LedgerBody, if_none_match: string | undefined): Reply | Promise<Reply> {
    if (this.#stamps === null) return this.#make(body);
    const etag = body.tag(this.#stamps);
    if (if_none_match !== undefined && namesTag(if_none_match, etag))
      return { status: 304, empty: true, etag };
    const at_hand = this.#kept.get(etag) ?? this.#asked.get(etag);
    if (at_hand !== undefined) return at_hand;
    const asked = this.#make(body);
    this.#asked.set(etag, asked);
    const forget = () => {
      if (this.#asked.get(etag) === asked) this.#asked.delete(etag);
    };
    asked.then(forget, forget);
    return asked;
  }

  async #make(body: LedgerBody): Promise<Reply> {
    const { etag, body: made } = await body.make();
    const head = { status: 200, content_type: 'application/json', etag };
    const reply: Reply = made instanceof Pieces ? { ...head, pieces: made } : { ...head, bytes: made };
    const isCurrent = this.#stamps !== null && body.tag(this.#stamps) === etag;
    if (isCurrent && !this.#kept.has(etag) && made.length <= KEPT_BYTES) this.#keep(etag, reply, made.length);
    return reply;
  }

  #become(stamps: LedgerStamps | null): void {
    this.#stamps = stamps;
    this.#asked.clear();
    this.#drop();
  }

  #keep(etag: string, reply: Reply, bytes: number): void {
    if (this.#kept.size >= KEPT_BODIES || this.#keptBytes + bytes > KEPT_BYTES) this.#drop();
    this.#kept.set(etag, reply);
    this.#keptBytes += bytes;
  }

  #drop(): void {
    this.#kept.clear();
    this.#keptBytes = 0;
  }
}
