import { type Spend, spendQuerySchema, spendSchema, type Tokens } from '../contract/http/spend.ts';
import type { SessionLine } from '../contract/ledger.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { TranscriptPlaces } from './transcript-places.ts';

/** `GET /spend`: tokens by session and fiber, as the providers counted them. */
export function spendRows(
  { ledgers, pool }: Pick<Callers, 'ledgers' | 'pool'>,
  context: Pick<RouteContext, 'host' | 'spend_dir'>,
  places: TranscriptPlaces,
): Row[] {
  const spendOf = async (uid: string | undefined, session: string | undefined): Promise<Spend> => {
    const lines =
      uid === undefined
        ? (await ledgers.call('lines_of_session', { session: session! })).lines
        : (await ledgers.call('sessions', { uid })).sessions;
    const begun = sessionsIn(lines);
    if (session !== undefined && begun.length === 0) begun.push({ session, began_at: null });
    const found = await places.find(
      begun.map((one) => one.session),
      { believe: true },
    );
    const asked = begun.map(({ session: name }, index) => {
      const place = found[index]!;
      return { session: name, harness: place.harness, path: place.kind === 'found' ? place.path : null };
    });
    const { value } = await pool.run('read_spend', { cache_dir: context.spend_dir, sessions: asked });
    const sessions = value.spends.map((one, index) => ({
      ...one,
      ...(found[index]!.kind === 'unknown' ? { unknown: 'unreadable' as const } : {}),
      harness: asked[index]!.harness,
      began_at: begun[index]!.began_at,
    }));
    const told = sessions.flatMap(({ tokens }) => (tokens === null ? [] : [tokens]));
    return {
      host: context.host,
      sessions,
      total: told.length === 0 ? null : told.reduce(sum),
      unknown: sessions.length - told.length,
    };
  };

  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/spend',
      summary: 'What the sessions of a fiber, or one session, used',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001' },
      routing: 'owner',
      state: 'ready',
      query: spendQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: spendSchema },
      async handler({ query: { uid, session } }) {
        return { status: 200, json: await spendOf(uid, session) };
      },
    }),
  ];
}

/** Each session that the ledger names, by its transcript, in the order in which they began. */
function sessionsIn(lines: readonly SessionLine[]): { session: string; began_at: number | null }[] {
  const begun = new Map<string, number>();
  for (const { session, at } of lines)
    if (session !== null) begun.set(session, Math.min(begun.get(session) ?? at, at));
  return [...begun]
    .map(([session, began_at]) => ({ session, began_at }))
    .sort((a, b) => a.began_at - b.began_at);
}

function sum(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
  };
}
