import { z } from 'zod';
import { audioMessageSchema, meetingAnswerSchema, meetingSchema } from '../http/meeting.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import { audioStateSchema } from '../http/state.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Where a transcript is mirrored: the SSH alias, the remote that it is of, and the file there. */
export const mirrorSchema = z.object({ alias: z.string(), host: z.string(), path: z.string() });
export type Mirror = z.infer<typeof mirrorSchema>;

const startMeetingSchema = z.object({
  /** As the request says it; the component knows which ones its recorder has. */
  mode: z.string(),
  /** Its first line becomes the title; without one it is `Meeting`. */
  note: z.string(),
  /** The remote that the transcript is mirrored to, if its entry names an SSH alias. */
  mirror: z.object({ alias: z.string(), host: z.string() }).nullable(),
  /** The fiber that is joined; null for a capture. */
  fiber: z.string().nullable(),
  /** Its uid, by which it is found once it has another id; null where that is not known. */
  fiber_uid: z.string().nullable(),
  /** The host of the scribe; null for this one. */
  owner: z.string().nullable(),
  dry_run: z.boolean(),
});
export type StartMeeting = z.infer<typeof startMeetingSchema>;

/** A meeting that was started, and how its scribe is told of it. */
const startedMeetingSchema = z.object({
  meeting: meetingSchema,
  /** Absolute path of the transcript where the scribe runs; null where it is not on that host. */
  scribe_transcript: z.string().nullable(),
});

/** The same as it would be, with what starting it would do. */
const rehearsedMeetingSchema = rehearsalSchema.extend(startedMeetingSchema.shape);
export type RehearsedMeeting = z.infer<typeof rehearsedMeetingSchema>;

/** Where the fiber of a meeting is looked for: the host of its scribe, null for this one, and the uid of a joined one. */
const scribePlaceSchema = z.object({ owner: z.string().nullable(), fiber_uid: z.string().nullable() });
export type ScribePlace = z.infer<typeof scribePlaceSchema>;

/** The line that was added. */
const markedSchema = z.object({ line: z.string(), meeting: meetingSchema, place: scribePlaceSchema });
export type Marked = z.infer<typeof markedSchema>;

/** Calls that the main thread makes to the audio component. */
export const audioCalls = {
  state: { input: z.object({}), output: audioStateSchema, deadline_ms: 5_000 },
  /** The meeting of this host; its `fiber` is the one that was joined, as it was then. */
  meeting: {
    input: z.object({}),
    output: meetingAnswerSchema.extend({ place: scribePlaceSchema.nullable() }),
    deadline_ms: 5_000,
  },
  /**
   * Starts a recorder and watches its first seconds. Throws `meeting_running` (409), `meeting_unsupported` (422),
   * `recorder_unavailable` and `recorder_failed` (503) and what tmux refuses.
   */
  start_meeting: {
    input: startMeetingSchema,
    output: z.union([rehearsedMeetingSchema, startedMeetingSchema]),
    deadline_ms: 20_000,
  },
  /** Tells the recorder to stop, or dismisses one that is not recording. Throws `no_meeting`. */
  stop_meeting: {
    input: z.object({ dry_run: z.boolean() }),
    output: z.union([
      z.object({ meeting: meetingSchema.nullable(), place: scribePlaceSchema.nullable() }),
      rehearsalSchema,
    ]),
    deadline_ms: 10_000,
  },
  /** Adds a comment line to the transcript. Throws `no_meeting`, and `meeting_not_live` where it takes none. */
  mark_meeting: {
    input: z.object({ text: z.string().optional(), dry_run: z.boolean() }),
    output: z.union([markedSchema, rehearsalSchema]),
    deadline_ms: 5_000,
  },
} satisfies CallTable;

/** A socket of `GET /meeting/audio` and the last that it is to be told; `id` is the number that its listener gave it. */
const audioSocketSchema = z.object({ id: z.number().int(), message: audioMessageSchema });
export type AudioSocket = z.infer<typeof audioSocketSchema>;

/** Each notice tells the state of all sockets, so that a later one may take the place of an earlier one. */
export const audioEvents = {
  /** This life of the thread knows no socket yet. */
  audio_started: z.object({}),
  audio_sockets: z.object({ sockets: z.array(audioSocketSchema) }),
} satisfies EventTable;

/** Notices to the audio component. */
export const audioHears = {
  audio_opened: z.object({ id: z.number().int(), launch: z.string().nullable() }),
  /** The bulk bytes are one message of the client; `missed` counts those before it that could not be told. */
  audio_frame: z.object({ id: z.number().int(), missed: z.number().int() }),
  audio_closed: z.object({ id: z.number().int() }),
} satisfies EventTable;
