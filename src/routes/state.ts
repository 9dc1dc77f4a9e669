import { sha256Of } from '../base/digest.ts';
import { type State, stateCompositeSchema, stateSchema } from '../contract/http/state.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { answerComposite, wrapRead } from './composite.ts';
import type { RouteContext } from './context.ts';
import { type RemoteParts, tagOfParts } from './remote-parts.ts';

/** A part that is only shown must not hold up the whole answer for long. */
const PART_DEADLINE_MS = 2_000;

/** `GET /state` (RPL-19, OPR-2): the poller's word is needed, each other part is null when it does not come. */
export function stateRows(callers: Callers, parts: RemoteParts, context: RouteContext): Row[] {
  const { poller, ledgers, fleet, audio } = callers;
  const deadline = { deadline_ms: PART_DEADLINE_MS };
  const readState = async (): Promise<State> => {
    const [poller_state, ledgers_state, fleet_state, audio_state] = await Promise.all([
      poller.call('state', {}),
      orNull(ledgers.call('state', {}, deadline)),
      orNull(fleet.call('state', {}, deadline)),
      orNull(audio.call('state', {}, deadline)),
    ]);
    const own = { host: context.host, generated_at: context.clock.now(), ...poller_state };
    return { ...own, ledgers: ledgers_state, fleet: fleet_state, audio: audio_state };
  };
  const common = { method: 'GET', page: 'why.md', state: 'ready', body_limit: 0, shared: true } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/state',
      summary: 'Workers, blocked and held fibers, standing roles, poll health',
      routing: 'local',
      replies: { 200: stateSchema },
      handler: async () => ({ status: 200, json: await readState() }),
    }),
    defineRow({
      ...common,
      path: '/api/v1/state/composite',
      summary: 'The state of this host, and that of every host as it told it last',
      routing: 'fan-in',
      replies: { 200: stateCompositeSchema, 304: 'empty' },
      async handler() {
        const asked = parts.read({ feed: 'state' });
        const compose = async (): Promise<Reply> => {
          const state = await readState();
          const others = await asked;
          const told = [context.git_short_sha, JSON.stringify(state, withoutTimes), tagOfParts(others)];
          return {
            status: 200,
            // The state comes first, and as the part of this host again: who reads all hosts reads each in the same way.
            pieces: wrapRead(context, Buffer.from(JSON.stringify(state)), state, others),
            content_type: 'application/json',
            etag: `W/"${sha256Of(told.join('\n'))}"`,
          };
        };
        return answerComposite(context, compose, {}, () => asked);
      },
    }),
  ];
}

/** A host that answers again and again is as it was. */
function withoutTimes(key: string, value: unknown): unknown {
  return key === 'last_ok_at' || key === 'generated_at' ? undefined : value;
}

function orNull<T>(part: Promise<T>): Promise<T | null> {
  return part.catch(() => null);
}
