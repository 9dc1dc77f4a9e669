import {
  brakePulledSchema,
  brakeReleasedSchema,
  pullBrakeSchema,
  releaseBrakeSchema,
} from '../contract/http/brake.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

const REQUEST_LIMIT = 64 * 1024;

/** The emergency brake of this host. */
export function brakeRows({ poller }: Pick<Callers, 'poller'>): Row[] {
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/brake',
      summary: 'The emergency brake: nothing new starts on this host',
      example: { body: { note: 'the disk is full', dry_run: true } },
      page: 'why.md',
      routing: 'host',
      state: 'ready',
      body: pullBrakeSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: brakePulledSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('pull_brake', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/brake/release',
      summary: 'Lets work start again',
      example: { body: {} },
      page: 'why.md',
      routing: 'host',
      state: 'ready',
      body: releaseBrakeSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: brakeReleasedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('release_brake', body) };
      },
    }),
  ];
}
