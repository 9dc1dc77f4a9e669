import { runAtOnceForRequest } from '../base/request-scope.ts';
import {
  type AttachRequest,
  attachedSchema,
  attachRequestSchema,
  type ResumedSession,
  resumedSessionSchema,
  resumeSessionRequestSchema,
} from '../contract/http/attach.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const REQUEST_LIMIT = 64 * 1024;

/** Terminals for people: of live workers and of past sessions (WPL-21, WPL-22). */
export function attachRows(
  callers: Pick<Callers, 'poller' | 'ledgers' | 'fleet'>,
  context: RouteContext,
): Row[] {
  const { poller, ledgers, fleet } = callers;

  const resumeHere = async (id: string, session: string): Promise<ResumedSession> => {
    const { lines } = await ledgers.call('lines_of_session', { session });
    return runAtOnceForRequest(id, () => poller.call('resume_session', { session, lines }));
  };

  /** The session's name on its host, which is asked to start a past one. */
  const nameOf = async (id: string, request: AttachRequest, remote: string | null): Promise<string> => {
    const { mux_session, session } = request;
    if (mux_session !== undefined) return mux_session;
    const past = session ?? '';
    const resumed =
      remote === null
        ? await resumeHere(id, past)
        : await fleet.call('resume_session', { host: remote, session: past });
    return resumed.mux_session;
  };

  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/attach',
      who: 'operator',
      state: 'ready',
      body: attachRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: attachedSchema },
      async handler({ id, body }) {
        const { shuttle_host: asked = context.host } = body;
        const remote = asked === context.host ? null : asked;
        const ssh = remote === null ? null : await fleet.call('ssh_target', { host: remote });
        const mux_session = await runAtOnceForRequest(id, () => nameOf(id, body, remote));
        const opening = { mux_session, ssh };
        const { terminal } = await runAtOnceForRequest(id, () => poller.call('open_terminal', opening));
        return { status: 200, json: { attached: true, host: asked, mux_session, terminal } };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/sessions/resume',
      who: 'operator',
      state: 'ready',
      body: resumeSessionRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: resumedSessionSchema },
      async handler({ id, body }) {
        return { status: 200, json: await resumeHere(id, body.session) };
      },
    }),
  ];
}
