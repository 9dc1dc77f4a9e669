import { z } from 'zod';
import { refusalStatus } from '../contract/error-codes.ts';
import {
  type CaptureRequest,
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
import { afterRehearsal, afterStart, ownerOf, requireTerminal } from './meeting.ts';
import { meetingFacts } from './meeting-facts.ts';

const REQUEST_LIMIT = 1024 * 1024;

/** A text that becomes a fiber, and a session that becomes a fiber's worker (WPL-5, WPL-6). */
export function captureRows(
  { poller, audio, fleet }: Pick<Callers, 'poller' | 'audio' | 'fleet'>,
  context: RouteContext,
): Row[] {
  const captureHere = async (request: CaptureRequest) => {
    const claim = claimAddress(context.listen());
    const outcome = await poller.call('capture', { ...request, claim });
    return { status: 'reason' in outcome ? refusalStatus(outcome.reason) : 200, json: outcome as unknown };
  };
  const captureOn = async (host: string, request: CaptureRequest) => {
    const body = { ...request, origin: host };
    const answer = await fleet.call('write_to_host', { host, path: '/capture', body });
    return { status: answer.status, json: answer.body };
  };
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
        409: errorBodySchema,
        422: z.union([captureRefusedSchema, errorBodySchema]),
        502: z.union([captureRefusedSchema, errorBodySchema]),
        503: z.union([captureRefusedSchema, errorBodySchema]),
      },
      begins_here: (input) => hasMeeting(input),
      async handler({ body }) {
        if (body.meeting === undefined) return captureHere(body);
        const { origin, prompt = '', dry_run = false, meeting, ...rest } = body;
        requireTerminal(body.surface);
        const { owner, mirror } = await ownerOf(fleet, context.host, origin);
        const started = await audio.call('start_meeting', {
          ...{ mode: meeting.mode, note: prompt, mirror, fiber: null, fiber_uid: null, owner, dry_run },
        });
        const { meeting: row, scribe_transcript } = started;
        const facts = { meeting: row, host: context.host, scribe_transcript, joined: false };
        const asked = { ...rest, prompt: meetingFacts(facts, prompt), meeting_launch: row.launch };
        const capture = (request: CaptureRequest) =>
          owner === null ? captureHere(request) : captureOn(owner, request);
        if ('dry_run' in started) return afterRehearsal(started, await capture({ ...asked, dry_run }));
        return afterStart(row, async () => {
          const { status, json } = await capture(asked);
          const more = status === 200 ? { meeting: row } : { meeting: row, recording: true };
          return { status, json: { ...(json as object), ...more } };
        });
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

function hasMeeting(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'meeting' in input;
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
