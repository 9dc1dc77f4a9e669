import type { FiberDocument } from '../contract/fiber.ts';
import type { Dispatched, Refused } from '../contract/http/dispatch.ts';
import type { Refusal } from './refusals.ts';
import type { Run } from './runs.ts';

/** What the dispatch API answers for a worker that was started, or runs already. */
export function dispatchedReply(host: string, run: Run, already_running: boolean): Dispatched {
  return {
    dispatched: true,
    already_running,
    fiber_id: run.fiber_id,
    host,
    surface: run.surface,
    mux_session: run.mux_session,
    session_uuid: run.session_uuid,
    run_id: run.run_id,
    agent: run.agent,
    harness: run.harness,
    ...(run.resume === undefined ? {} : { resumed: true }),
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
    ...(refusal.needs === undefined ? {} : { needs: refusal.needs }),
  };
}
