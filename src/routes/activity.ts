import {
  activityCompositeSchema,
  activityQuerySchema,
  activitySchema,
  activityWindowSchema,
} from '../contract/http/activity.ts';
import { activityTag, wholeMinutes } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import { ActivityPieces } from './activity-pieces.ts';
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
