import { z } from 'zod';
import { sessionsCompositeSchema, sessionsSchema } from '../contract/http/sessions.ts';
import { sessionsTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { type LedgerReads, readComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBody, wholeBody } from './ledger-bodies.ts';

/** What the sessions ledger says, of one fiber or of all: of this host, exempt from the gate (RDY-3), and of all (TMP-6). */
export function sessionsRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  reads: LedgerReads,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const { bodies } = reads;
  const bodyOf = (uid: string | undefined): LedgerBody => ({
    tag: (stamps) => sessionsTag(uid, stamps),
    make: () => wholeBody(ledgers.exchange('sessions_body', { host, uid })),
  });
  const common = { method: 'GET', page: 'sessions.md', body_limit: 0, shared: false } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/sessions',
      summary: 'Which fiber each agent session belonged to; `uid` narrows to one',
      routing: 'host-scoped',
      state: 'always',
      query: z.object({ uid, origin: z.string().optional() }),
      replies: { 200: sessionsSchema, 304: 'empty' },
      handler: ({ query, headers }) => bodies.read(bodyOf(query.uid), headers['if-none-match']),
    }),
    defineRow({
      ...common,
      path: '/api/v1/sessions/composite',
      summary: 'Which fiber each agent session of all hosts belonged to; `uid` narrows to one',
      routing: 'fan-in',
      state: 'ready',
      query: z.object({ uid }),
      replies: { 200: sessionsCompositeSchema, 304: 'empty' },
      handler: ({ query, headers }) =>
        readComposite(
          context,
          reads,
          { body: bodyOf(query.uid), asked: { feed: 'sessions', uid: query.uid } },
          headers['if-none-match'],
        ),
    }),
  ];
}

const uid = z.string().min(1).toUpperCase().optional();
