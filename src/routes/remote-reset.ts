import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { remoteResetSchema, resetRemoteSchema } from '../contract/http/remote-reset.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** The breaker of a remote that did not answer (BRK-1, WPL-26). */
export function remoteResetRows({ fleet }: Pick<Callers, 'fleet'>): Row[] {
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/remotes/:name/reset',
      summary: 'Tries once more, now, to reach a remote whose breaker has tripped',
      example: { params: { name: 'host-b' }, body: { dry_run: true } },
      page: 'other-hosts.md',
      routing: 'host',
      state: 'ready',
      body: resetRemoteSchema,
      body_limit: 64 * 1024,
      replies: { 200: remoteResetSchema.or(rehearsalSchema) },
      async handler({ params, body }) {
        return { status: 200, json: await fleet.call('reset_remote', { name: params.name!, ...body }) };
      },
    }),
  ];
}
