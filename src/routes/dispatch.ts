import { z } from 'zod';
import { refusalStatus } from '../contract/error-codes.ts';
import {
  dispatchedSchema,
  dispatchRequestSchema,
  killedSchema,
  killRequestSchema,
  refusedSchema,
  releasedSchema,
  releaseRequestSchema,
} from '../contract/http/dispatch.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { Deliver } from './deliver.ts';
import { keyOf } from './once-by-id.ts';

/** A fault of the daemon itself has these statuses too. */
const refusedOrErrorSchema = z.union([refusedSchema, errorBodySchema]);

const REQUEST_LIMIT = 1024 * 1024;

/** Launching, stopping, and releasing the boot quarantine (WPL-1, WPL-4, WPL-25). */
export function dispatchRows(
  { poller }: Pick<Callers, 'poller'>,
  { dispatch }: Pick<Deliver, 'dispatch'>,
): Row[] {
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/dispatch',
      summary: 'Starts a worker for a fiber now',
      example: { body: { fiber_id: 'say-hello', force: true, dry_run: true } },
      page: 'resume.md',
      routing: 'owner',
      state: 'ready',
      body: dispatchRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: {
        200: dispatchedSchema.or(rehearsalSchema),
        422: refusedSchema,
        502: refusedOrErrorSchema,
        503: refusedOrErrorSchema,
      },
      async handler(request) {
        return started(await dispatch(request.body, { message_id: keyOf(request) }));
      },
      repeated: async (request, first) =>
        first ?? started(await dispatch(request.body, { message_id: keyOf(request), is_repeat: true })),
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/kill',
      summary: 'Stops the worker of a fiber',
      example: { body: { fiber_id: 'say-hello', dry_run: true } },
      routing: 'owner',
      state: 'ready',
      body: killRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: killedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('kill', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/quarantine/release',
      summary: 'Lets start what the last start of the daemon held back',
      example: { body: {} },
      routing: 'host',
      state: 'ready',
      body: releaseRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: releasedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('release_quarantine', body) };
      },
    }),
  ];
}

function started(outcome: Awaited<ReturnType<Deliver['dispatch']>>) {
  return { status: 'reason' in outcome ? refusalStatus(outcome.reason) : 200, json: outcome };
}
