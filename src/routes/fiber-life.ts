import { isCoded } from '../base/errors.ts';
import { type Closing, lifeQuerySchema, lifeSchema } from '../contract/http/life.ts';
import { lifeTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type LedgerBodies, wholeBody } from './ledger-bodies.ts';

/** `GET /fiber-life`: what happened to one fiber, from the ledgers of this host and its document. */
export function fiberLifeRows(
  { ledgers, poller }: Pick<Callers, 'ledgers' | 'poller'>,
  bodies: LedgerBodies,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const closingOf = async (uid: string): Promise<Closing | null> => {
    try {
      const { fiber } = await poller.call('fiber', { id: uid });
      const { status, tempered, closed_at, updated_at } = fiber;
      return fiber.uid === uid ? { status, tempered, closed_at, updated_at } : null;
    } catch (error) {
      // A fiber that was removed has its past still.
      if (isCoded(error, 'fiber_not_found')) return null;
      throw error;
    }
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/fiber-life',
      summary:
        'What happened to a fiber: its runs, prompts, commits, sent files and closing, the newest of them',
      example: { query: 'uid=01K2B3C4D5E6F7G8H9J0K1M2N3&limit=20' },
      page: 'ledgers.md',
      routing: 'owner',
      state: 'ready',
      query: lifeQuerySchema,
      body_limit: 0,
      shared: false,
      replies: { 200: lifeSchema, 304: 'empty' },
      async handler({ query: { uid, limit, before_ms }, headers }) {
        const asked = { uid, limit, before_ms, closing: await closingOf(uid) };
        return bodies.read(
          {
            tag: (stamps) => lifeTag(asked, stamps),
            make: () => wholeBody(ledgers.exchange('fiber_life', { host, ...asked })),
          },
          headers['if-none-match'],
        );
      },
    }),
  ];
}
