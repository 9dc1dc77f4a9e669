import type { SessionLine } from '../../contract/ledger.ts';
import type { World } from '../world/world.ts';
import type { Run } from './run.ts';
import { muxSessionOf } from './runs.ts';

/** The ledger line of a start (EVT-4); written again by an adoption that finds a start cut short. */
export function recordDispatch(world: Pick<World, 'host' | 'recordSession'>, run: Run): void {
  world.recordSession({
    ...lineOf(world, run),
    at: run.started_at,
    kind: run.claim === undefined ? 'dispatch' : 'claim',
    ...(run.resume === undefined && run.app?.resumed !== true ? {} : { resumed: true }),
    ...(run.by_request === undefined ? {} : { by_request: run.by_request }),
  });
}

/** The ledger line of the conversation that a run went on in (P7). */
export function recordLearned(world: Pick<World, 'clock' | 'host' | 'recordSession'>, run: Run): void {
  world.recordSession({ ...lineOf(world, run), at: world.clock.now(), kind: 'learned' });
}

/** The ledger line of an end (EVT-4); an end that is settled again after a crash has it twice. */
export function recordEnd(
  world: Pick<World, 'host' | 'recordSession'>,
  run: Run,
  { reason, told }: { reason: string; told: Pick<SessionLine, 'detail' | 'mend' | 'screen'> },
  at: number,
): void {
  world.recordSession({
    ...lineOf(world, run),
    at,
    kind: 'ended',
    reason,
    ...told,
  });
}

/** The ledger line of a run that the daemon accepted by itself. */
export function recordAcceptance(world: Pick<World, 'host' | 'recordSession'>, run: Run, at: number): void {
  world.recordSession({ ...lineOf(world, run), at, kind: 'accepted' });
}

function lineOf(world: Pick<World, 'host'>, run: Run) {
  return {
    fiber: run.fiber_id,
    uid: run.uid,
    session: run.app?.transcript_session_uuid ?? run.session_uuid,
    thread_id: run.app?.thread_id ?? null,
    harness: run.harness,
    agent: run.agent,
    host: world.host,
    mux: muxSessionOf(run),
    run_id: run.run_id,
  };
}
