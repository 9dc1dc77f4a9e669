import {
  type AttachRequest,
  attachedSchema,
  attachRequestSchema,
  type ResumedSession,
  resumedSessionSchema,
  resumeSessionRequestSchema,
} from '../contract/http/attach.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { rehearse } from './rehearsal.ts';

const REQUEST_LIMIT = 64 * 1024;

/** Terminals for people: of live workers and of past sessions (WPL-21, WPL-22). */
export function attachRows(
  callers: Pick<Callers, 'poller' | 'ledgers' | 'fleet'>,
  context: RouteContext,
): Row[] {
  const { poller, ledgers, fleet } = callers;

  const linesOf = async (session: string) => (await ledgers.call('lines_of_session', { session })).lines;

  const resumeHere = async (session: string): Promise<ResumedSession> =>
    poller.call('resume_session', { session, lines: await linesOf(session) });

  /** The session's name on its host, which is asked to start a past one. */
  const nameOf = async (request: AttachRequest, remote: string | null): Promise<string> => {
    const { mux_session, session } = request;
    if (mux_session !== undefined) return mux_session;
    const past = session ?? '';
    const resumed =
      remote === null
        ? await resumeHere(past)
        : await fleet.call('resume_session', { host: remote, session: past });
    return resumed.mux_session;
  };

  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/attach',
      summary: 'Opens a terminal on a worker, or on a past session by its id',
      example: { body: { mux_session: 'say-hello-01k00000000000000000000000-svc' } },
      page: 'sessions.md',
      routing: 'local',
      state: 'ready',
      body: attachRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: attachedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        const { shuttle_host: asked = context.host } = body;
        const remote = asked === context.host ? null : asked;
        const ssh = remote === null ? null : await fleet.call('ssh_target', { host: remote });
        if (body.dry_run === true) {
          const { mux_session, session } = body;
          const lines = session === undefined || remote !== null ? [] : await linesOf(session);
          const request = { mux_session, session, lines, host: asked, ssh };
          return rehearse(poller, { write: 'open_terminal', request });
        }
        const mux_session = await nameOf(body, remote);
        const { terminal } = await poller.call('open_terminal', { mux_session, ssh });
        return { status: 200, json: { attached: true, host: asked, mux_session, terminal } };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/sessions/resume',
      summary: 'Starts or finds the terminal session of a past conversation',
      example: { body: { session: '0198c0de-0000-4000-8000-000000000001' } },
      page: 'sessions.md',
      routing: 'local',
      state: 'ready',
      body: resumeSessionRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: resumedSessionSchema.or(rehearsalSchema) },
      async handler({ body }) {
        const { session } = body;
        if (body.dry_run === true) {
          const request = { session, lines: await linesOf(session) };
          return rehearse(poller, { write: 'resume_session', request });
        }
        return { status: 200, json: await resumeHere(session) };
      },
    }),
  ];
}
