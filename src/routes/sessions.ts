import { z } from 'zod';
import { sessionsSchema } from '../contract/http/sessions.ts';
import { sessionsTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBodies, wholeBody } from './ledger-bodies.ts';

/** `GET /sessions`: what the sessions ledger says, of one fiber or of all; exempt from the gate (RDY-3). */
export function sessionsRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/sessions',
      summary: 'Which fiber each agent session belonged to; `uid` narrows to one',
      page: 'sessions.md',
      routing: 'host-scoped',
      state: 'always',
      query: z.object({ uid: z.string().min(1).optional(), origin: z.string().optional() }),
      body_limit: 0,
      shared: false,
      replies: {
        200: sessionsSchema,
        304: 'empty',
      },
      handler({ query: { uid }, headers }) {
        return bodies.read(
          {
            tag: (stamps) => sessionsTag(uid, stamps),
            make: () => wholeBody(ledgers.exchange('sessions_body', { host, uid })),
          },
          headers['if-none-match'],
        );
      },
    }),
  ];
}
