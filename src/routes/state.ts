import { type State, stateSchema } from '../contract/http/state.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** A part that is only shown must not hold up the whole answer for long. */
const PART_DEADLINE_MS = 2_000;

/** `GET /state` (RPL-19, OPR-2): the poller's word is needed, each other part is null when it does not come. */
export function stateRows(callers: Callers, context: RouteContext): Row[] {
  const { poller, ledgers, fleet, audio } = callers;
  const deadline = { deadline_ms: PART_DEADLINE_MS };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/state',
      summary: 'Workers, blocked and held fibers, standing roles, poll health',
      page: 'why.md',
      routing: 'local',
      state: 'ready',
      body_limit: 0,
      shared: true,
      replies: { 200: stateSchema },
      async handler() {
        const [poller_state, ledgers_state, fleet_state, audio_state] = await Promise.all([
          poller.call('state', {}),
          orNull(ledgers.call('state', {}, deadline)),
          orNull(fleet.call('state', {}, deadline)),
          orNull(audio.call('state', {}, deadline)),
        ]);
        const state: State = {
          host: context.host,
          generated_at: context.clock.now(),
          ...poller_state,
          ledgers: ledgers_state,
          fleet: fleet_state,
          audio: audio_state,
        };
        return { status: 200, json: state };
      },
    }),
  ];
}

function orNull<T>(part: Promise<T>): Promise<T | null> {
  return part.catch(() => null);
}
