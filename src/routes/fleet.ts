import { conflictSchema } from '../contract/http/errors.ts';
import { remoteWrittenSchema, writeRemoteSchema } from '../contract/http/fleet.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

const REQUEST_LIMIT = 64 * 1024;

/** How this host reaches others (WPL-18). */
export function fleetRows({ poller }: Pick<Callers, 'poller'>): Row[] {
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/fleet/remotes',
      summary: 'Adds, replaces or removes one remote',
      example: { body: { name: 'host-b', remote: { ssh: 'host-b-login', port: 4001 }, dry_run: true } },
      page: 'other-hosts.md',
      routing: 'host',
      state: 'ready',
      body: writeRemoteSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: remoteWrittenSchema.or(rehearsalSchema), 409: conflictSchema },
      async handler({ body }) {
        return { status: 200, json: await poller.call('write_remote', body) };
      },
    }),
  ];
}
