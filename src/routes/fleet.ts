import { conflictSchema } from '../contract/http/errors.ts';
import {
  fleetSchema,
  installTunnelsSchema,
  remoteWrittenSchema,
  tunnelsInstalledSchema,
  tunnelsRehearsalSchema,
  writeRemoteSchema,
} from '../contract/http/fleet.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const REQUEST_LIMIT = 64 * 1024;

/** Which other hosts there are (RPL-9), and how this one reaches them (WPL-18, WPL-19). */
export function fleetRows(
  { poller, fleet }: Pick<Callers, 'poller' | 'fleet'>,
  { host }: Pick<RouteContext, 'host'>,
): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/fleet',
      summary: 'The other hosts as they are now: reach, build, workers',
      page: 'other-hosts.md',
      routing: 'host',
      state: 'ready',
      shared: true,
      query: originQuerySchema,
      body_limit: 0,
      replies: { 200: fleetSchema },
      async handler() {
        const { rows } = await fleet.call('rows', {});
        return { status: 200, json: { host, remotes: rows } };
      },
    }),
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
    defineRow({
      method: 'POST',
      path: '/api/v1/tunnels',
      summary: 'Installs and starts what keeps the SSH tunnels of a host up',
      example: { body: { names: ['host-b'], dry_run: true } },
      page: 'other-hosts.md',
      routing: 'host',
      state: 'ready',
      body: installTunnelsSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: tunnelsRehearsalSchema.or(tunnelsInstalledSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('write_tunnels', body) };
      },
    }),
  ];
}
