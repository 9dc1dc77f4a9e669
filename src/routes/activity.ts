import { CodedError } from '../base/errors.ts';
import {
  activityCompositeSchema,
  activityQuerySchema,
  activitySchema,
  activityWindowSchema,
} from '../contract/http/activity.ts';
import { activityTag, wholeMinutes } from '../contract/ledger-tags.ts';
import { Pieces } from '../http/pieces.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { type LedgerReads, readComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import type { LedgerBody } from './ledger-bodies.ts';

/** Buckets of one minute: of this host (TMP-1), and of all (TMP-6). */
export function activityRows(
  callers: Pick<Callers, 'ledgers'>,
  reads: LedgerReads,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const { bodies } = reads;
  const pieces = new ActivityPieces(callers.ledgers);
  const bodyOf = (asked: { from_ms: number; to_ms: number }): LedgerBody => {
    const window = wholeMinutes(asked);
    return {
      tag: (stamps) => activityTag(window, stamps),
      make: () => pieces.body({ host, ...window }),
    };
  };
  const common = {
    method: 'GET',
    example: { query: 'from_ms=1786203000000&to_ms=1786206600000' },
    page: 'ledgers.md',
    state: 'ready',
    body_limit: 0,
    shared: false,
  } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/activity',
      summary: 'What people and agents did, by minute, in a window of time',
      routing: 'host-scoped',
      query: activityQuerySchema,
      replies: { 200: activitySchema, 304: 'empty' },
      handler({ query, headers }) {
        return bodies.read(bodyOf(query), headers['if-none-match']);
      },
    }),
    defineRow({
      ...common,
      path: '/api/v1/activity/composite',
      summary: 'What people and agents did on all hosts, by minute, in a window of time',
      routing: 'fan-in',
      query: activityWindowSchema,
      replies: { 200: activityCompositeSchema, 304: 'empty' },
      handler: ({ query, headers }) =>
        readComposite(
          context,
          reads,
          { body: bodyOf(query), asked: { feed: 'activity', ...query } },
          headers['if-none-match'],
        ),
    }),
  ];
}

const MOST_KEPT_BYTES = 32 * 1024 * 1024;
/** Every question names all that are kept, and where little happens the pieces are short. */
const MOST_KEPT = 1_000;

/**
 * Bodies of `GET /activity`, which mostly consist of what the last one consisted of: the ledgers thread sends only the
 * pieces that are not here yet. Those that were asked for longest ago make room for others.
 */
export class ActivityPieces {
  readonly #ledgers: Callers['ledgers'];
  #epoch: string | null = null;
  #kept = new Map<number, Uint8Array>();
  #bytes = 0;

  constructor(ledgers: Callers['ledgers']) {
    this.#ledgers = ledgers;
  }

  async body(window: {
    host: string;
    from_ms: number;
    to_ms: number;
  }): Promise<{ etag: string; body: Pieces }> {
    // Others may make room for theirs while the thread answers.
    const had = new Map(this.#kept);
    const known = this.#epoch === null ? null : { epoch: this.#epoch, ids: [...had.keys()] };
    const { value, bulk } = await this.#ledgers.exchange('activity', { ...window, known });
    this.#enter(value.epoch);
    let at = 0;
    const pieces = value.pieces.map(({ id, skip, length }) => {
      const piece = length === null ? had.get(id ?? 0) : bulk?.subarray(at, at + length);
      if (piece === undefined || (length !== null && piece.length !== length))
        throw new CodedError('internal', 'the ledgers thread left out a piece of a body');
      at += length ?? 0;
      if (id !== null) this.#keep(id, piece);
      return piece.subarray(skip);
    });
    return { etag: value.etag, body: new Pieces(pieces) };
  }

  #enter(epoch: string): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#kept = new Map();
    this.#bytes = 0;
  }

  #keep(id: number, piece: Uint8Array): void {
    if (!this.#kept.delete(id)) this.#bytes += piece.length;
    this.#kept.set(id, piece);
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT_BYTES && this.#kept.size <= MOST_KEPT) return;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}
