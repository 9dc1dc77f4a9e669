import { commitsSchema } from '../contract/http/commits.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { commitsTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBodies, wholeBody } from './ledger-bodies.ts';

/** `GET /commits`: which session made each commit (TMP-3). */
export function commitsRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/commits',
      summary: 'Commits that agents made, in a window of time',
      example: { query: 'from_ms=1786203000000&to_ms=1786206600000' },
      page: 'ledgers.md',
      routing: 'host-scoped',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      shared: false,
      replies: { 200: commitsSchema, 304: 'empty' },
      handler({ headers }) {
        return bodies.read(
          { tag: commitsTag, make: () => wholeBody(ledgers.exchange('commits', { host })) },
          headers['if-none-match'],
        );
      },
    }),
  ];
}
