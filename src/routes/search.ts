import { CodedError } from '../base/errors.ts';
import { type SearchWish, searchQuerySchema, searchReplySchema } from '../contract/http/search.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { Lane } from './lane.ts';

const DEFAULT_LIMIT = 20;
const MOST_WAITING = 64;

/** `GET /search`: the bodies of the polled stores, ranked (RPL-4). */
export function searchRows({ poller, pool }: Pick<Callers, 'poller' | 'pool'>): Row[] {
  const lane = new Lane(MOST_WAITING);
  /** The catalogue that a thread of the pool was last given. */
  let given: string | null = null;

  const search = async (wish: SearchWish) => {
    const asked = await poller.exchange('catalogue', { known: given });
    const { catalogue } = asked.value;
    given = catalogue;
    const first = await pool.run('search', { catalogue, wish }, { bulk: asked.bulk });
    if (first.value.reply !== null) return first.value.reply;
    // Another thread took the job, or the one that had it is gone.
    const whole = await poller.exchange('catalogue', { known: null });
    const again = { catalogue: whole.value.catalogue, wish };
    const { reply } = (await pool.run('search', again, { bulk: whole.bulk })).value;
    if (reply === null) throw new CodedError('internal', 'the pool searched no catalogue');
    return reply;
  };

  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/search',
      summary: 'Fibers whose bodies have these words, best first',
      example: { query: 'query=hello' },
      routing: 'local',
      state: 'ready',
      query: searchQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: searchReplySchema },
      async handler({ query }) {
        const wish = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
        return { status: 200, json: await lane.run(() => search(wish)) };
      },
    }),
  ];
}
