import { originQuerySchema } from '../contract/http/origin.ts';
import { sentFilesQuerySchema, sentFilesSchema } from '../contract/http/sent-files.ts';
import { sentFilesTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBodies, type LedgerBody, wholeBody } from './ledger-bodies.ts';
import { requireThisHost } from './origin.ts';

/** Files that workers sent: of this host (TMP-4), and the newest of one fiber (TMP-5, LIM-12). */
export function sentFilesRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const body = (uid?: string): LedgerBody => ({
    tag: (stamps) => sentFilesTag(uid, stamps),
    make: () => wholeBody(ledgers.exchange('sent_files', { host, uid })),
  });
  const common = {
    method: 'GET',
    who: 'operator',
    state: 'ready',
    body_limit: 0,
    shared: false,
    replies: { 200: sentFilesSchema, 304: 'empty' },
  } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/sent-files/all',
      query: originQuerySchema,
      handler({ query, headers }) {
        requireThisHost(query.origin, host);
        return bodies.read(body(), headers['if-none-match']);
      },
    }),
    defineRow({
      ...common,
      path: '/api/v1/sent-files',
      // Owner-routed: an origin that matches nothing degrades to this host, whose ledger then has no such fiber (RTE-2).
      query: sentFilesQuerySchema,
      handler: ({ query, headers }) => bodies.read(body(query.uid), headers['if-none-match']),
    }),
  ];
}
