import { z } from 'zod';
import { ledgersCalls } from '../contract/threads/ledgers.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** `GET /sessions`: what the sessions ledger says, of one fiber or of all; exempt from the gate (RDY-3). */
export function sessionsRows(callers: Pick<Callers, 'ledgers'>): Row[] {
  const { ledgers } = callers;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/sessions',
      who: 'operator',
      state: 'always',
      query: z.object({ uid: z.string().min(1).optional() }),
      body_limit: 0,
      replies: { 200: ledgersCalls.sessions.output },
      async handler({ query }) {
        return { status: 200, json: await ledgers.call('sessions', query) };
      },
    }),
  ];
}
