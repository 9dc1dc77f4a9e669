import { z } from 'zod';

/** What a meeting records: this machine's microphone and system audio, its microphone alone, or a phone's microphone (CAP-2). */
export const MEETING_MODES = ['call', 'room', 'phone'] as const;
export const meetingModeSchema = z.enum(MEETING_MODES);
export type MeetingMode = z.infer<typeof meetingModeSchema>;

/** What a recorder says of itself, in this order; `failed` may follow each but `ended`. */
const recorderPhaseSchema = z.enum(['loading', 'live', 'stopping', 'ended', 'failed']);
export type RecorderPhase = z.infer<typeof recorderPhaseSchema>;

/** Longest texts in a lifecycle file, in characters. */
export const MOST_TEXT_CHARS = 4_096;
const text = z.string().max(MOST_TEXT_CHARS);

/**
 * The lifecycle file of a recorder, which replaces it whole (temporary file, then rename) at each change of phase.
 * Other members are allowed and ignored. Written for people in `ops/recorder.md`.
 */
export const recorderStateSchema = z.object({
  version: z.literal(1),
  /** The id that the recorder was started with. */
  launch: text,
  pid: z.number().int().positive(),
  /** When that process started, as the system tells it, so that another process with its number is not taken for it. */
  process_started: text.nullable(),
  phase: recorderPhaseSchema,
  /** When it was started, in milliseconds since the Unix epoch. */
  started_at: z.number(),
  /** Absolute path of the Unix socket that takes a phone's audio; null while there is none. */
  phone: text.nullable(),
  /** What turns speech into text, and what that cannot do, as one line: `pocketsphinx 0.8, not diarized`. */
  engine: text.nullable(),
  /** Why it failed, with the fix; null unless the phase is `failed`. */
  error: text.nullable(),
  /** What is wrong although the recording goes on, with the fix: a disk that is full; null or absent if nothing is. */
  fault: text.nullable().optional(),
  /**
   * What the times of the transcript count from: the wall clock at a moment of the monotonic clock of the system, both in
   * milliseconds. Null or absent if they are those of the wall clock.
   */
  time_base: z.object({ wall: z.number(), monotonic: z.number() }).nullable().optional(),
});
export type RecorderState = z.infer<typeof recorderStateSchema>;
export type TimeBase = NonNullable<RecorderState['time_base']>;

/** Bytes of a lifecycle file that are read; a longer one counts as unreadable. */
export const RECORDER_STATE_BYTES = 64 * 1024;

/** Samples of a phone's audio in one second: signed 16-bit little-endian, one channel (AUD-2). */
export const SAMPLE_RATE = 16_000;
