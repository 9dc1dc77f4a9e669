import { z } from 'zod';
import { meetingModeSchema } from '../recorder.ts';
import { promptSchema, referenceSchema } from './bounded.ts';
import { deliveredSchema } from './deliver.ts';
import { dryRunField } from './rehearsal.ts';

/** Lines of a tail (MTR-2). */
export const MOST_TAIL_LINES = 30;

const meetingStateSchema = z.enum(['starting', 'loading', 'live', 'stopping', 'failed']);
export type MeetingStateName = z.infer<typeof meetingStateSchema>;

/** The meeting that this host records (MTR-1 to MTR-6). Times in milliseconds since the Unix epoch. */
export const meetingSchema = z.object({
  state: meetingStateSchema,
  mode: meetingModeSchema,
  title: z.string(),
  started_at: z.number(),
  /** The last lines that were spoken, oldest first, without comments. */
  tail: z.array(z.string()).max(MOST_TAIL_LINES),
  /** Absolute path of the transcript on this host. */
  transcript: z.string(),
  /** The remote that the transcript is mirrored to: its name, or the SSH alias that no remote has; null for none. */
  mirror_host: z.string().nullable(),
  /** The fiber that was joined, or that the scribe claimed; null until then. */
  fiber: z.string().nullable(),
  joined: z.boolean(),
  phone: z.boolean(),
  /** Names the recording; a phone's audio binds to it. */
  launch: z.string(),
  mux_session: z.string(),
  /** Why it failed, or what is wrong with it; null if nothing is. */
  error: z.string().nullable(),
});
export type Meeting = z.infer<typeof meetingSchema>;

/** The audio of a phone as it passes through this daemon; null unless a phone meeting is there. */
const meetingAudioSchema = z.object({
  /** A phone is connected and its audio reaches the recorder. */
  connected: z.boolean(),
  /** Loudest sample of the last second, in decibels below full scale; null without audio. */
  peak_db: z.number().nullable(),
  /** Frames that were given to the recorder, and that were dropped because it or this daemon could not take them. */
  frames: z.number().int(),
  dropped: z.number().int(),
});
export type MeetingAudio = z.infer<typeof meetingAudioSchema>;

/** `GET /meeting` (RPL-16). */
export const meetingAnswerSchema = z.object({
  /** A recorder can be started. */
  available: z.boolean(),
  /** Why not, with the fix; null if one can. */
  unavailable: z.string().nullable(),
  modes: z.array(meetingModeSchema),
  meeting: meetingSchema.nullable(),
  audio: meetingAudioSchema.nullable(),
});
export type MeetingAnswer = z.infer<typeof meetingAnswerSchema>;

export const meetingQuerySchema = z.object({ origin: referenceSchema.optional() });

/** Where a meeting is taken up (CAP-3). */
export const meetingSurfaceSchema = z.literal('cli');

/** The mode is checked by the handler, which names those that the recorder has. */
const meetingFieldSchema = z.object({ mode: referenceSchema });

/** `POST /meeting/join` (WPL-7). */
export const meetingJoinSchema = z.object({
  fiber_id: referenceSchema.min(1),
  origin: referenceSchema.optional(),
  meeting: meetingFieldSchema,
  note: promptSchema.optional(),
  surface: referenceSchema.optional(),
  dry_run: dryRunField,
});
export type MeetingJoin = z.infer<typeof meetingJoinSchema>;

/** The row, and what `/deliver` answered on the owner of the fiber. */
export const meetingJoinedSchema = z.object({ meeting: meetingSchema, delivery: deliveredSchema });
export type MeetingJoined = z.infer<typeof meetingJoinedSchema>;

/** `POST /meeting/stop` (WPL-8), which needs no body. */
export const stopMeetingSchema = z.strictObject({ dry_run: dryRunField }).optional();

/** The row after it; null where the session was dismissed. */
export const meetingStoppedSchema = z.object({ meeting: meetingSchema.nullable() });
export type MeetingStopped = z.infer<typeof meetingStoppedSchema>;

/** Longest text of a mark, in characters. */
const MOST_MARK_CHARS = 500;

/** `POST /meeting/mark`: a comment line in the transcript, and context for the scribe. */
export const meetingMarkSchema = z.strictObject({
  text: z.string().trim().max(MOST_MARK_CHARS).optional(),
  dry_run: dryRunField,
});

export const meetingMarkedSchema = z.object({
  /** The line of the transcript: `# mark 10:04:31 budget agreed`. */
  line: z.string(),
  meeting: meetingSchema,
  /** Why the scribe was not told of it; null if it was. */
  undelivered: z.string().nullable(),
});
export type MeetingMarked = z.infer<typeof meetingMarkedSchema>;

/** A `launch` of any form is taken: the page can read a reason in a message of the socket, and not in a refused upgrade. */
export const audioQuerySchema = z.object({ launch: z.string().optional() });

/** One JSON message of `GET /meeting/audio` (AUD-3 to AUD-8). After the last three the socket is closed. */
export const audioMessageSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('waiting'), reason: z.string() }),
  z.object({ state: z.literal('connected') }),
  z.object({ state: z.literal('refused'), reason: z.string() }),
  z.object({ state: z.literal('ended'), reason: z.string() }),
  z.object({ state: z.literal('replaced'), reason: z.string() }),
]);
export type AudioMessage = z.infer<typeof audioMessageSchema>;

/** Close codes of the messages after which the socket is closed. */
export const AUDIO_CLOSE_CODES = { refused: 4404, replaced: 4409, ended: 4410 } as const;
