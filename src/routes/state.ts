import { createHash } from 'node:crypto';
import { type State, stateCompositeSchema, stateSchema } from '../contract/http/state.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { answerComposite, wrapRead } from './composite.ts';
import type { RouteContext } from './context.ts';

/** A part that is only shown must not hold up the whole answer for long. */
const PART_DEADLINE_MS = 2_000;

/** `GET /state` (RPL-19, OPR-2): the poller's word is needed, each other part is null when it does not come. */
export function stateRows(callers: Callers, context: RouteContext): Row[] {
  const { poller, ledgers, fleet, audio } = callers;
  const deadline = { deadline_ms: PART_DEADLINE_MS };
  const readState = async (): Promise<Omit<State, 'host' | 'generated_at'>> => {
    const [poller_state, ledgers_state, fleet_state, audio_state] = await Promise.all([
      poller.call('state', {}),
      orNull(ledgers.call('state', {}, deadline)),
      orNull(fleet.call('state', {}, deadline)),
      orNull(audio.call('state', {}, deadline)),
    ]);
    return { ...poller_state, ledgers: ledgers_state, fleet: fleet_state, audio: audio_state };
  };
  const head = () => ({ host: context.host, generated_at: context.clock.now() });
  const common = { method: 'GET', page: 'why.md', state: 'ready', body_limit: 0, shared: true } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/state',
      summary: 'Workers, blocked and held fibers, standing roles, poll health',
      routing: 'local',
      replies: { 200: stateSchema },
      async handler() {
        const state: State = { ...head(), ...(await readState()) };
        return { status: 200, json: state };
      },
    }),
    defineRow({
      ...common,
      path: '/api/v1/state/composite',
      summary: 'Workers, blocked and held fibers, standing roles, poll health of all hosts',
      routing: 'fan-in',
      replies: { 200: stateCompositeSchema, 304: 'empty' },
      handler: () =>
        answerComposite(context, async () => {
          const rest = JSON.stringify(await readState());
          const text = `${JSON.stringify(head()).slice(0, -1)},${rest.slice(1)}`;
          return {
            status: 200,
            pieces: wrapRead(context, Buffer.from(text)),
            content_type: 'application/json',
            etag: `W/"${createHash('sha256').update(`${context.git_short_sha}\n${rest}`).digest('base64url')}"`,
          };
        }),
    }),
  ];
}

function orNull<T>(part: Promise<T>): Promise<T | null> {
  return part.catch(() => null);
}
