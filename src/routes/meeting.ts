import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { within } from '../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import { refusedDeliverySchema } from '../contract/http/deliver.ts';
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
import { receiptSchema } from '../contract/http/messages.ts';
import { rehearsal, rehearsalSchema, stepOf } from '../contract/http/rehearsal.ts';
import { printAddress } from '../contract/session-address.ts';
import type { Marked, RehearsedMeeting, ScribePlace } from '../contract/threads/audio.ts';
import type { ScribeQuery } from '../contract/threads/fleet.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { Deliver } from './deliver.ts';
import { LateMarks, type Told } from './late-marks.ts';
import { meetingFacts } from './meeting-facts.ts';

const REQUEST_LIMIT = 1024 * 1024;
const SMALL_REQUEST = 16 * 1024;
/** Who writes what a scribe is told of its meeting. */
const RECORDER = 'the recorder';

/** How long a mark waits in its request for a scribe that starts, in milliseconds; it is tried again afterwards. */
const SCRIBE_WAIT_MS = 1_000;
/** How long the request of a mark waits for its scribe to be told, in milliseconds: its line is written before. */
const TELL_MS = 3_000;

const NOT_TOLD_YET = 'its host has not answered yet, and may tell it later. The line is in the transcript';

/** A mark, and the id by which a second try is the same message. */
type MarkToTell = Marked & { message_id: string };

/** Of a delivery that failed after the recording had started. */
const refusedOrErrorSchema = refusedDeliverySchema
  .extend({ error: z.string(), meeting: meetingSchema, recording: z.literal(true) })
  .or(errorBodySchema);

type Asked = Pick<Callers, 'audio' | 'poller' | 'fleet' | 'messages'>;

/** The meeting that this daemon records (MTG-1 to MTG-4, WPL-7, WPL-8, RPL-16). */
export function meetingRows(
  callers: Asked,
  { deliver, sessionOf }: Deliver,
  context: Pick<RouteContext, 'host' | 'clock'>,
): Row[] {
  const { audio, fleet, messages } = callers;
  const { host } = context;
  /** Gives the text to the worker of a fiber, on whichever host it is. */
  const deliverTo = async (owner: string | null, fiber_id: string, text: string, dry_run: boolean) => {
    const request = { fiber_id, text, from: RECORDER, message_id: randomUUID(), ...(dry_run && { dry_run }) };
    if (owner === null) return deliver(request);
    const { status, body } = await fleet.call('write_to_host', {
      ...{ host: owner, path: '/deliver', body: { ...request, origin: owner } },
    });
    return { status, json: body };
  };
  /** Adds a mark to what the scribe reads with its next turn; why not, where that fails. */
  const tellScribe = async ({ line, meeting, place, message_id }: MarkToTell): Promise<Told> => {
    try {
      const { owner } = place;
      const address = await scribeAddress(meeting, place);
      if (address === null)
        return {
          why: 'no worker has taken the meeting up yet; it is told once one has, unless this daemon ends before. The line is in the transcript',
          later: true,
        };
      const message = {
        ...{ address, text: `${meeting.title}: ${line.slice(2)}`, from: RECORDER },
        ...{ wake: false, message_id },
      };
      if (owner === null) return { why: refusalOf(await messages.call('send', message)), later: false };
      const { status, body } = await fleet.call('write_to_host', {
        ...{ host: owner, path: '/messages', body: message },
      });
      if (status === 200) return { why: refusalOf(body), later: false };
      return { why: errorBodySchema.safeParse(body).data?.message ?? `${owner}: ${status}`, later: false };
    } catch (error) {
      return { why: messageOf(error), later: isCoded(error) && error.code === 'deadline_exceeded' };
    }
  };
  /** A scribe that never comes is waited for while its meeting is there. */
  const tellLate = async (mark: MarkToTell): Promise<Told> => {
    const told = await tellScribe(mark);
    if (!told.later) return told;
    const there = await audio.call('meeting', {}).catch(() => null);
    return { ...told, later: there === null || there.meeting?.launch === mark.meeting.launch };
  };
  const late = new LateMarks(context.clock, tellLate);
  const scribeAddress = async (meeting: Meeting, place: ScribePlace): Promise<string | null> => {
    const { owner } = place;
    if (owner !== null) {
      const { scribe } = await fleet.call('scribe', scribeQuery(meeting, { ...place, owner }));
      return scribe?.session == null ? null : printAddress({ host: owner, ...scribe.session });
    }
    const { fiber } = await withFiber(callers, meeting, place);
    return fiber === null ? null : (await sessionOf(fiber, SCRIBE_WAIT_MS)).address;
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
        const { meeting, place, ...answer } = await audio.call('meeting', {});
        const row = meeting === null ? null : await withFiber(callers, meeting, place);
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
        const fiber_uid = owner === null ? (found?.uid ?? null) : await uidElsewhere(fleet, owner, fiber_id);
        const leaf = fiber.split('/').at(-1) ?? fiber;
        const started = await audio.call('start_meeting', {
          ...{ mode: body.meeting.mode, note: note.trim() === '' ? leaf : note },
          ...{ mirror, fiber, fiber_uid, owner, dry_run },
        });
        const { meeting, scribe_transcript } = started;
        const facts = meetingFacts({ meeting, host, scribe_transcript, joined: true }, note);
        if ('dry_run' in started)
          return afterRehearsal(started, await deliverTo(owner, fiber, facts, dry_run));
        return afterStart(meeting, async () => {
          const { status, json } = await deliverTo(owner, fiber, facts, dry_run);
          return status === 200
            ? { status, json: { meeting, delivery: json } }
            : { status, json: { error: reasonOf(json), ...(json as object), meeting, recording: true } };
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
        const { meeting, place } = stopped;
        const row = meeting === null ? null : await withFiber(callers, meeting, place);
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
        const mark = { ...marked, message_id: randomUUID() };
        const telling = tellScribe(mark).then(({ why, later }) => {
          if (later) late.add(mark);
          return why;
        });
        const undelivered = (await within(context.clock, TELL_MS, telling)) ? await telling : NOT_TOLD_YET;
        const { line, meeting, place } = marked;
        return {
          status: 200,
          json: { line, meeting: await withFiber(callers, meeting, place), undelivered },
        };
      },
    }),
  ];
}

/** Why a session was not given a message, by its receipt; null where it was, or may get it yet. */
function refusalOf(receipt: unknown): string | null {
  const { data } = receiptSchema.safeParse(receipt);
  return data?.status === 'rejected' ? data.detail : null;
}

/** The code of a refused start, whose body has it as `reason`. */
function reasonOf(json: unknown): string | undefined {
  return (json as { reason?: string }).reason;
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

/** The rehearsal of a start with that of what follows it; a refusal of the second step is the answer. */
export function afterRehearsal(
  { meeting: _row, scribe_transcript: _path, ...started }: RehearsedMeeting,
  { status, json }: { status: number; json: unknown },
): { status: number; json: unknown } {
  const next = rehearsalSchema.safeParse(json);
  if (!next.success) return { status, json };
  const would = `${started.would}; then ${next.data.would}`;
  return { status, json: rehearsal(would, { steps: [started, next.data].map(stepOf) }) };
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

/** The uid of a fiber of another host; null where its copy here does not tell. */
async function uidElsewhere(fleet: Asked['fleet'], host: string, fiber: string): Promise<string | null> {
  const joined = { host, fiber, uid: null };
  const { scribe } = await fleet.call('scribe', { launch: '', joined }).catch(() => ({ scribe: null }));
  return scribe?.uid ?? null;
}

function scribeQuery(
  { launch, fiber }: Meeting,
  { owner, fiber_uid }: ScribePlace & { owner: string },
): ScribeQuery {
  return { launch, joined: fiber === null ? null : { host: owner, fiber, uid: fiber_uid } };
}

/** The row with the fiber that was joined, as it is called now, or that the scribe of a capture claimed (MTR-5). */
async function withFiber(
  { poller, fleet }: Asked,
  meeting: Meeting,
  place: ScribePlace | null,
): Promise<Meeting> {
  const { launch, joined } = meeting;
  const { owner, fiber_uid } = place ?? { owner: null, fiber_uid: null };
  const elsewhere = (query: ScribeQuery) =>
    fleet.call('scribe', query).then(
      ({ scribe }) => scribe?.fiber ?? null,
      () => null,
    );
  if (!joined) {
    const [here, there] = await Promise.all([
      poller.call('fiber_of_meeting', { launch }).catch(() => ({ fiber: null })),
      elsewhere({ launch, joined: null }),
    ]);
    return { ...meeting, fiber: here.fiber ?? there };
  }
  if (fiber_uid === null) return meeting;
  const now =
    owner === null
      ? await poller.call('fiber', { id: fiber_uid }).then(
          ({ fiber }) => fiber.id,
          () => null,
        )
      : await elsewhere(scribeQuery(meeting, { owner, fiber_uid }));
  return { ...meeting, fiber: now ?? meeting.fiber };
}
