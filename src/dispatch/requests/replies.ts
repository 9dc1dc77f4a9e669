import type { FiberDocument } from '../../contract/fiber.ts';
import type { Dispatched, DispatchRequest, Refused } from '../../contract/http/dispatch.ts';
import type { Refusal } from '../holds/refusals.ts';
import type { Run } from '../run/run.ts';
import { workerIdentity } from '../run/runs.ts';

/** What the dispatch API answers for a worker that was started, or runs already. */
export function dispatchedReply(host: string, run: Run, already_running: boolean): Dispatched {
  return {
    dispatched: true,
    already_running,
    ...workerIdentity(host, run),
    ...(run.resume === undefined && run.app?.resumed !== true ? {} : { resumed: true }),
  };
}

/** The same answer, saying what of the request a worker that runs already was not given. */
export function withUntold<R extends Dispatched | Refused>(reply: R, request: DispatchRequest): R {
  if (!reply.dispatched || !reply.already_running) return reply;
  const untold = [
    ...(isBlank(request.user_message) ? [] : ['was not told the message']),
    ...(isBlank(request.project_dir) ? [] : ['stays in its folder']),
  ];
  if (untold.length === 0) return reply;
  const note = `the worker that runs ${untold.join(' and ')}; say it in its terminal, or end it and start a fresh one with force`;
  return { ...reply, notes: [note] };
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
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
