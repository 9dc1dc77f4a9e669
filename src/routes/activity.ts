import { activityQuerySchema, activitySchema } from '../contract/http/activity.ts';
import { activityTag, wholeMinutes } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import { ActivityPieces } from './activity-pieces.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { LedgerBodies } from './ledger-bodies.ts';

/** `GET /activity`: buckets of one minute (TMP-1). */
export function activityRows(
  callers: Pick<Callers, 'ledgers'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const pieces = new ActivityPieces(callers.ledgers);
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/activity',
      summary: 'What people and agents did, by minute, in a window of time',
      example: { query: 'from_ms=1786203000000&to_ms=1786206600000' },
      page: 'ledgers.md',
      routing: 'host-scoped',
      state: 'ready',
      query: activityQuerySchema,
      body_limit: 0,
      shared: false,
      replies: { 200: activitySchema, 304: 'empty' },
      handler({ query, headers }) {
        const window = wholeMinutes(query);
        return bodies.read(
          {
            tag: (stamps) => activityTag(window, stamps),
            make: () => pieces.body({ host, ...window }),
          },
          headers['if-none-match'],
        );
      },
    }),
  ];
}
