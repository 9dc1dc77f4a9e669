import { z } from 'zod';
import { refusalStatus } from '../contract/error-codes.ts';
import {
  type ClaimAddress,
  capturedSchema,
  captureRefusedSchema,
  captureRequestSchema,
  claimedSchema,
  claimRequestSchema,
} from '../contract/http/capture.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const REQUEST_LIMIT = 1024 * 1024;

/** A text that becomes a fiber, and a session that becomes a fiber's worker (WPL-5, WPL-6). */
export function captureRows(callers: Pick<Callers, 'poller'>, context: RouteContext): Row[] {
  const { poller } = callers;
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/capture',
      summary: 'Starts a worker that makes a fiber of a text and takes it up',
      example: { body: { prompt: 'Load the data faster', project_dir: '~/my-project' } },
      page: 'sessions.md',
      routing: 'owner',
      state: 'ready',
      body: captureRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: {
        200: capturedSchema.or(rehearsalSchema),
        422: captureRefusedSchema,
        502: z.union([captureRefusedSchema, errorBodySchema]),
        503: z.union([captureRefusedSchema, errorBodySchema]),
      },
      async handler({ body }) {
        const request = { ...body, claim: claimAddress(context.listen()) };
        const outcome = await poller.call('capture', request);
        return { status: 'reason' in outcome ? refusalStatus(outcome.reason) : 200, json: outcome };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/claim',
      summary: 'Makes a running session the worker of a fiber',
      example: { body: { fiber_id: 'say-hello', mux_session: 'capture-0198c0de' } },
      page: 'sessions.md',
      routing: 'owner',
      state: 'ready',
      body: claimRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: claimedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('claim', body) };
      },
    }),
  ];
}

/** Where a session of this host claims: at the first TCP address, else through the Unix socket. */
export function claimAddress(listening: readonly string[]): ClaimAddress {
  const tcp = listening.find((address) => !address.startsWith('unix:'));
  const socket = listening.find((address) => address.startsWith('unix:'));
  return {
    url: `http://${tcp ?? 'localhost'}/api/v1/claim`,
    socket: tcp === undefined && socket !== undefined ? socket.slice('unix:'.length) : null,
  };
}
