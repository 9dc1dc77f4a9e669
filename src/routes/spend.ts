import { type Spend, spendQuerySchema, spendSchema, type Tokens } from '../contract/http/spend.ts';
import type { SessionLine } from '../contract/ledger.ts';
import { defineRow, type Row } from '../http/row.ts';
import { MOMENT_MS } from './answer-age.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { type KeptReplies, markOfFiles } from './kept-replies.ts';
import type { TranscriptPlaces } from './transcript-places.ts';

/** Looking at more files than this for each question would be no gain over asking anew. */
const MOST_SOURCES = 32;
const MOST_REMEMBERED = 1_000;

/** `GET /spend`: tokens by session and fiber, as the providers counted them. */
export function spendRows(
  callers: Pick<Callers, 'ledgers' | 'pool' | 'files'>,
  context: Pick<RouteContext, 'host' | 'clock' | 'sessions_file' | 'spend_dir'>,
  places: TranscriptPlaces,
  kept: KeptReplies,
): Row[] {
  const { ledgers, pool, files } = callers;
  /** Which files the last answer to each question came from. */
  const sources = new Map<string, readonly string[]>();

  const spendOf = async (uid: string | undefined, session: string | undefined) => {
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
      harness: asked[index]!.harness,
      began_at: begun[index]!.began_at,
    }));
    const told = sessions.flatMap(({ tokens }) => (tokens === null ? [] : [tokens]));
    const spend: Spend = {
      host: context.host,
      sessions,
      total: told.length === 0 ? null : told.reduce(sum),
      unknown: sessions.length - told.length,
    };
    // A transcript that is missing may come to lie anywhere.
    const complete = asked.every(({ path }) => path !== null) && value.sources.length <= MOST_SOURCES;
    return { spend, sources: complete ? value.sources : null };
  };

  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/spend',
      summary: 'What the sessions of a fiber, or one session, used',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001' },
      routing: 'local',
      state: 'ready',
      query: spendQuerySchema,
      body_limit: 0,
      shared: true,
      stands_ms: MOMENT_MS,
      replies: { 200: spendSchema },
      handler({ query: { uid, session } }) {
        const key = uid === undefined ? `spend of session ${session}` : `spend of fiber ${uid}`;
        const mark = async () => {
          const known = sources.get(key);
          if (known === undefined) return null;
          return markOfFiles(files, [context.sessions_file, ...known], context.clock.now());
        };
        return kept.read(key, mark, async () => {
          const made = await spendOf(uid, session);
          remember(sources, key, made.sources);
          return { status: 200, json: made.spend };
        });
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

function remember(sources: Map<string, readonly string[]>, key: string, now: readonly string[] | null): void {
  sources.delete(key);
  const [oldest] = sources.keys();
  if (sources.size >= MOST_REMEMBERED && oldest !== undefined) sources.delete(oldest);
  if (now !== null) sources.set(key, now);
}
