import { commitsCompositeSchema, commitsSchema } from '../contract/http/commits.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { commitsTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { readComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBodies, type LedgerBody, wholeBody } from './ledger-bodies.ts';

/** Which session made each commit: of this host (TMP-3), and of all (TMP-6). */
export function commitsRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const body: LedgerBody = {
    tag: commitsTag,
    make: () => wholeBody(ledgers.exchange('commits', { host })),
  };
  const common = {
    method: 'GET',
    page: 'ledgers.md',
    state: 'ready',
    body_limit: 0,
    shared: false,
  } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/commits',
      summary: 'Commits that agents made',
      routing: 'host-scoped',
      query: originQuerySchema,
      replies: { 200: commitsSchema, 304: 'empty' },
      handler: ({ headers }) => bodies.read(body, headers['if-none-match']),
    }),
    defineRow({
      ...common,
      path: '/api/v1/commits/composite',
      summary: 'Commits that agents made on all hosts',
      routing: 'fan-in',
      replies: { 200: commitsCompositeSchema, 304: 'empty' },
      handler: ({ headers }) => readComposite(context, bodies, body, headers['if-none-match']),
    }),
  ];
}
