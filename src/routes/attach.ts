import {
  attachedSchema,
  attachRequestSchema,
  resumedSessionSchema,
  resumeSessionRequestSchema,
} from '../contract/http/attach.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
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

  const linesOf = async (session: string) => (await ledgers.call('lines_of_session', { session })).lines;

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
        const { session, dry_run } = body;
        const lines = session === undefined || remote !== null ? [] : await linesOf(session);
        // A host starts its own past sessions; a dry run asks no other host for anything.
        const far =
          remote === null || session === undefined || dry_run === true
            ? null
            : await fleet.call('resume_session', { host: remote, session });
        const terminal = {
          ...(far === null ? { mux_session: body.mux_session, session } : far),
          ...{ lines, host: asked, ssh, dry_run },
        };
        const opened = await poller.call('open_terminal', terminal);
        const json = 'dry_run' in opened ? opened : { attached: true, host: asked, ...opened };
        return { status: 200, json };
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
        const lines = await linesOf(body.session);
        const json = await poller.call('resume_session', { ...body, lines });
        return { status: 200, json };
      },
    }),
  ];
}
