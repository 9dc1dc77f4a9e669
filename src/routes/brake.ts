import {
  brakePulledSchema,
  brakeReleasedSchema,
  pullBrakeSchema,
  releaseBrakeSchema,
} from '../contract/http/brake.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { requireThisHost } from './origin.ts';
import { rehearse } from './rehearsal.ts';

const REQUEST_LIMIT = 64 * 1024;

/** The emergency brake of this host; host-addressed, since the subject is a host (RTE-3). */
export function brakeRows(callers: Pick<Callers, 'poller'>, context: RouteContext): Row[] {
  const { poller } = callers;
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/brake',
      who: 'operator',
      state: 'ready',
      body: pullBrakeSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: brakePulledSchema.or(rehearsalSchema) },
      async handler({ body }) {
        requireThisHost(body.origin, context.host);
        if (body.dry_run === true) return rehearse(poller, { write: 'pull_brake', request: body });
        return { status: 200, json: await poller.call('pull_brake', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/brake/release',
      who: 'operator',
      state: 'ready',
      body: releaseBrakeSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: brakeReleasedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        requireThisHost(body.origin, context.host);
        if (body.dry_run === true) return rehearse(poller, { write: 'release_brake', request: body });
        return { status: 200, json: await poller.call('release_brake', body) };
      },
    }),
  ];
}
