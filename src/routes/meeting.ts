import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import { refusedSchema } from '../contract/http/dispatch.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import {
  type Meeting,
  meetingAnswerSchema,
  meetingJoinedSchema,
  meetingJoinSchema,
  meetingMarkedSchema,
  meetingMarkSchema,
  meetingQuerySchema,
  meetingSchema,
  meetingStoppedSchema,
  meetingSurfaceSchema,
  stopMeetingSchema,
} from '../contract/http/meeting.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { printAddress } from '../contract/session-address.ts';
import type { Marked } from '../contract/threads/audio.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { Deliver } from './deliver.ts';
import { meetingFacts } from './meeting-facts.ts';

const REQUEST_LIMIT = 1024 * 1024;
const SMALL_REQUEST = 16 * 1024;
/** Who writes what a scribe is told of its meeting. */
const RECORDER = 'the recorder';

/** Of a delivery that failed after the recording had started. */
const refusedOrErrorSchema = refusedSchema
  .extend({ meeting: meetingSchema, recording: z.literal(true) })
  .or(errorBodySchema);

type Asked = Pick<Callers, 'audio' | 'poller' | 'fleet' | 'messages'>;

/** The meeting that this daemon records (MTG-1 to MTG-4, WPL-7, WPL-8, RPL-16). */
export function meetingRows(
  callers: Asked,
  { deliver, sessionOf }: Deliver,
  context: Pick<RouteContext, 'host'>,
): Row[] {
  const { audio, fleet, messages } = callers;
  const { host } = context;
  /** Gives the text to the worker of a fiber, on whichever host it is. */
  const deliverTo = async (owner: string | null, fiber_id: string, text: string) => {
    const request = { fiber_id, text, from: RECORDER, message_id: randomUUID() };
    if (owner === null) return deliver(request);
    const { status, body } = await fleet.call('write_to_host', {
      ...{ host: owner, path: '/deliver', body: { ...request, origin: owner } },
    });
    return { status, json: body };
  };
  /** Adds a mark to what the scribe reads with its next turn; why not, where that fails. */
  const tellScribe = async ({ line, meeting, owner }: Marked): Promise<string | null> => {
    try {
      const address = await scribeAddress(meeting, owner);
      if (address === null) return 'no worker has taken the meeting up yet; the line is in the transcript';
      const message = {
        ...{ address, text: `${meeting.title}: ${line.slice(2)}`, from: RECORDER },
        ...{ wake: false, message_id: randomUUID() },
      };
      if (owner === null) {
        const receipt = await messages.call('send', message);
        return 'status' in receipt && receipt.status === 'rejected' ? receipt.detail : null;
      }
      const { status, body } = await fleet.call('write_to_host', {
        ...{ host: owner, path: '/messages', body: message },
      });
      return status === 200 ? null : (errorBodySchema.safeParse(body).data?.message ?? `${owner}: ${status}`);
    } catch (error) {
      return messageOf(error);
    }
  };
  const scribeAddress = async (meeting: Meeting, owner: string | null): Promise<string | null> => {
    if (owner !== null) {
      const joined = meeting.fiber === null ? null : { host: owner, fiber: meeting.fiber };
      const { scribe } = await fleet.call('scribe', { launch: meeting.launch, joined });
      return scribe?.session == null ? null : printAddress({ host: owner, ...scribe.session });
    }
    const { fiber } = await withFiber(callers, meeting);
    return fiber === null ? null : (await sessionOf(fiber)).address;
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/meeting',
      summary: 'The meeting that a host records, and what it can record',
      page: 'meetings.md',
      routing: 'host',
      state: 'ready',
      shared: true,
      query: meetingQuerySchema,
      body_limit: 0,
      replies: { 200: meetingAnswerSchema },
      async handler() {
        const { meeting, ...answer } = await audio.call('meeting', {});
        const row = meeting === null ? null : await withFiber(callers, meeting);
        return { status: 200, json: { ...answer, meeting: row } };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/meeting/join',
      summary: 'Records a meeting into a fiber: its worker is told, or started',
      example: { body: { fiber_id: 'say-hello', meeting: { mode: 'phone' }, dry_run: true } },
      page: 'meetings.md',
      routing: 'owner',
      begins_here: () => true,
      state: 'ready',
      body: meetingJoinSchema,
      body_limit: REQUEST_LIMIT,
      replies: {
        200: meetingJoinedSchema.or(rehearsalSchema),
        409: errorBodySchema,
        422: refusedOrErrorSchema,
        502: refusedOrErrorSchema,
        503: refusedOrErrorSchema,
      },
      async handler({ body }) {
        const { fiber_id, note = '', surface, dry_run = false } = body;
        requireTerminal(surface);
        const { owner, mirror } = await ownerOf(fleet, host, body.origin);
        const found = owner === null ? (await callers.poller.call('fiber', { id: fiber_id })).fiber : null;
        const fiber = found?.id ?? fiber_id;
        const leaf = fiber.split('/').at(-1) ?? fiber;
        const started = await audio.call('start_meeting', {
          ...{ mode: body.meeting.mode, note: note.trim() === '' ? leaf : note },
          ...{ mirror, fiber, owner, dry_run },
        });
        if ('dry_run' in started) {
          const steps = `${started.would}; then tell the worker of ${fiber}`;
          return { status: 200, json: { ...started, would: steps } };
        }
        const { meeting, scribe_transcript } = started;
        const facts = meetingFacts({ meeting, host, scribe_transcript, joined: true }, note);
        return afterStart(meeting, async () => {
          const { status, json } = await deliverTo(owner, fiber, facts);
          return status === 200
            ? { status, json: { meeting, delivery: json } }
            : { status, json: { ...(json as object), meeting, recording: true } };
        });
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/meeting/stop',
      summary: 'Ends the meeting that this host records',
      page: 'meetings.md',
      routing: 'local',
      state: 'ready',
      body: stopMeetingSchema,
      body_limit: SMALL_REQUEST,
      replies: { 202: meetingStoppedSchema, 200: rehearsalSchema },
      async handler({ body }) {
        const stopped = await audio.call('stop_meeting', { dry_run: body?.dry_run === true });
        if ('dry_run' in stopped) return { status: 200, json: stopped };
        const { meeting } = stopped;
        const row = meeting === null ? null : await withFiber(callers, meeting);
        return { status: 202, json: { meeting: row } };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/meeting/mark',
      summary: 'Marks this moment in the transcript, and tells the scribe',
      example: { body: { text: 'budget agreed', dry_run: true } },
      page: 'meetings.md',
      routing: 'local',
      state: 'ready',
      body: meetingMarkSchema,
      body_limit: SMALL_REQUEST,
      replies: { 200: meetingMarkedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        const { text, dry_run = false } = body;
        const marked = await audio.call('mark_meeting', { ...(text !== undefined && { text }), dry_run });
        if ('dry_run' in marked) return { status: 200, json: marked };
        const undelivered = await tellScribe(marked);
        const { line, meeting } = marked;
        return { status: 200, json: { line, meeting: await withFiber(callers, meeting), undelivered } };
      },
    }),
  ];
}

/** The answer to what follows a started recording: a failure says that the recording goes on (CAP-6, MTG-2). */
export async function afterStart<R>(meeting: Meeting, run: () => Promise<R>): Promise<R> {
  try {
    return await run();
  } catch (error) {
    const { code, message, details } = isCoded(error)
      ? error
      : { code: 'internal', message: messageOf(error), details: {} };
    throw new CodedError(code, message, { details: { ...details, meeting, recording: true }, cause: error });
  }
}

/** A meeting is taken up in a terminal (CAP-3). */
export function requireTerminal(surface: string | undefined): void {
  if (surface !== undefined && !meetingSurfaceSchema.safeParse(surface).success)
    throw new CodedError(
      'surface_unsupported',
      'a meeting is taken up in a terminal; leave out surface or set it to cli',
    );
}

/**
 * The host of the scribe, null for this one, and where the transcript is mirrored to. A host that is unknown here is taken
 * for this one, as for every write to an owner.
 */
export async function ownerOf(
  fleet: Asked['fleet'],
  host: string,
  origin: string | undefined,
): Promise<{ owner: string | null; mirror: { alias: string; host: string } | null }> {
  if (origin === undefined || origin === host) return { owner: null, mirror: null };
  const { known, alias } = await fleet.call('ssh_alias', { host: origin });
  if (!known) return { owner: null, mirror: null };
  return { owner: origin, mirror: alias === null ? null : { alias, host: origin } };
}

/** The row of a capture's meeting with the fiber that its scribe claimed (MTR-5). */
async function withFiber({ poller, fleet }: Asked, meeting: Meeting): Promise<Meeting> {
  if (meeting.joined) return meeting;
  const { launch } = meeting;
  const [here, elsewhere] = await Promise.all([
    poller.call('fiber_of_meeting', { launch }).catch(() => ({ fiber: null })),
    fleet.call('scribe', { launch, joined: null }).catch(() => ({ scribe: null })),
  ]);
  return { ...meeting, fiber: here.fiber ?? elsewhere.scribe?.fiber ?? null };
}
