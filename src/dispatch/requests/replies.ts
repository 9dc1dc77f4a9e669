import type { FiberDocument } from '../../contract/fiber.ts';
import type { Dispatched, Refused } from '../../contract/http/dispatch.ts';
import { appIdentity } from '../app/app-run.ts';
import type { Refusal } from '../refusals.ts';
import { muxSessionOf, type Run } from '../run/runs.ts';

/** What the dispatch API answers for a worker that was started, or runs already. */
export function dispatchedReply(host: string, run: Run, already_running: boolean): Dispatched {
  return {
    dispatched: true,
    already_running,
    fiber_id: run.fiber_id,
    host,
    surface: run.surface,
    mux_session: muxSessionOf(run),
    session_uuid: run.session_uuid,
    run_id: run.run_id,
    agent: run.agent,
    harness: run.harness,
    ...appIdentity(run),
    ...(run.resume === undefined && run.app?.resumed !== true ? {} : { resumed: true }),
  };
}

/**
 * What the dispatch API answers for a refusal (WPL-1, ERR-17). One that a person mends by resending with a
 * directory is an `arm_refused`.
 */
export function refusedReply(host: string, document: FiberDocument, refusal: Refusal): Refused {
  return {
    dispatched: false,
    reason: refusal.needs === undefined ? refusal.reason : 'arm_refused',
    fiber_id: document.id,
    host,
    message: refusal.message,
    ...(refusal.thread_id === undefined
      ? {}
      : { surface: 'app', thread_id: refusal.thread_id, session_uuid: refusal.thread_id, mux_session: null }),
    ...(refusal.needs === undefined ? {} : { needs: refusal.needs }),
  };
}
