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
  const pollerState = shareCalls(() => poller.call('state', {}));
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/state',
      who: 'operator',
      state: 'ready',
      body_limit: 0,
      replies: { 200: stateSchema },
      async handler() {
        const [poller_state, ledgers_state, fleet_state, audio_state] = await Promise.all([
          pollerState(),
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

/**
 * At most one call under way, whatever the number of readers. Who asks meanwhile shares the call after it: an
 * answer is never older than the question.
 */
function shareCalls<T>(call: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    const begun = call().finally(() => {
      if (current === begun) current = null;
    });
    current = begun;
    return begun;
  };
  return () => {
    if (current === null) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = null;
        return begin();
      });
    return next;
  };
}

function orNull<T>(part: Promise<T>): Promise<T | null> {
  return part.catch(() => null);
}
