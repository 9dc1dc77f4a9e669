import { originQuerySchema } from '../contract/http/origin.ts';
import {
  sentFilesCompositeSchema,
  sentFilesQuerySchema,
  sentFilesSchema,
} from '../contract/http/sent-files.ts';
import { sentFilesTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { type LedgerReads, readComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBody, wholeBody } from './ledger-bodies.ts';

/** Files that workers sent: of this host (TMP-4), of all (TMP-6), and the newest of one fiber (TMP-5, LIM-12). */
export function sentFilesRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  reads: LedgerReads,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const { bodies } = reads;
  const body = (uid?: string): LedgerBody => ({
    tag: (stamps) => sentFilesTag(uid, stamps),
    make: () => wholeBody(ledgers.exchange('sent_files', { host, uid })),
  });
  const common = {
    method: 'GET',
    state: 'ready',
    body_limit: 0,
    shared: false,
  } as const;
  const replies = { 200: sentFilesSchema, 304: 'empty' } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/sent-files/all',
      summary: 'Files that agents sent to a person, by fiber',
      page: 'ledgers.md',
      routing: 'host-scoped',
      query: originQuerySchema,
      replies,
      handler: ({ headers }) => bodies.read(body(), headers['if-none-match']),
    }),
    defineRow({
      ...common,
      path: '/api/v1/sent-files/all/composite',
      summary: 'Files that agents of all hosts sent to a person, by fiber',
      page: 'ledgers.md',
      routing: 'fan-in',
      replies: { 200: sentFilesCompositeSchema, 304: 'empty' },
      handler: ({ headers }) =>
        readComposite(
          context,
          reads,
          { body: body(), asked: { feed: 'sent-files' } },
          headers['if-none-match'],
        ),
    }),
    defineRow({
      ...common,
      path: '/api/v1/sent-files',
      summary: 'The last files that the agents of one fiber sent to a person',
      example: { query: 'uid=01K2B3C4D5E6F7G8H9J0K1M2N3' },
      page: 'ledgers.md',
      routing: 'owner',
      query: sentFilesQuerySchema,
      replies,
      handler: ({ query, headers }) => bodies.read(body(query.uid), headers['if-none-match']),
    }),
  ];
}
