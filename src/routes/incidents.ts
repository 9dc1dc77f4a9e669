import { incidentReplySchema, incidentRequestSchema } from '../contract/http/incidents.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** A lost multiplexer server: start what it cut off, or take it off the list (P2). */
export function incidentRows({ poller }: Pick<Callers, 'poller'>): Row[] {
  const shared = {
    method: 'POST',
    state: 'ready',
    body: incidentRequestSchema,
    body_limit: 64 * 1024,
    replies: { 200: incidentReplySchema.or(rehearsalSchema) },
  } as const;
  return [
    defineRow({
      ...shared,
      path: '/api/v1/incidents/resume',
      summary: 'Starts again what a lost tmux server cut off',
      example: { body: {} },
      page: 'setup.md',
      routing: 'host',
      async handler({ body }) {
        return { status: 200, json: await poller.call('resume_incident', body) };
      },
    }),
    defineRow({
      ...shared,
      path: '/api/v1/incidents/dismiss',
      summary: 'Takes incidents off the list',
      example: { body: {} },
      page: 'setup.md',
      routing: 'host',
      async handler({ body }) {
        return { status: 200, json: await poller.call('dismiss_incident', body) };
      },
    }),
  ];
}
