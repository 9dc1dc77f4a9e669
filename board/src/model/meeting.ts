import type { CaptureRequest, Meeting, MeetingAnswer, MeetingJoin, MeetingMode } from './wire.ts';
import { lasting } from './wording.ts';

/** Between two questions of a page that shows a meeting, and of one that only says that there is one. */
export const SHOWN_MS = 1_000;
export const SELDOM_MS = 15_000;

/** What is known of the meeting of this host. Moments are milliseconds since the Unix epoch. */
export type KnownMeeting = {
  /** What was last answered; null before that. */
  answer: MeetingAnswer | null;
  heard_at: number | null;
  /** Why the last question was not answered; null where it was. */
  refusal: string | null;
};

export const NOTHING_KNOWN: KnownMeeting = { answer: null, heard_at: null, refusal: null };

/** What was answered counts as now for so long after the next answer was due. */
const GRACE_MS = 4_000;

/** How old what is known is, in milliseconds, where it is too old to be shown as now; else null. */
export function agedMs(
  { heard_at }: Pick<KnownMeeting, 'heard_at'>,
  every_ms: number,
  now: number,
): number | null {
  if (heard_at === null) return null;
  const age = now - heard_at;
  return age > every_ms + GRACE_MS ? age : null;
}

/** How long a meeting has lasted, as a clock: `0:07`, `12:04`, `1:02:07`. */
export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (count: number) => String(count).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

export const STATE_WORDS: Readonly<Record<Meeting['state'], string>> = {
  starting: 'The recorder starts',
  loading: 'The recorder loads',
  live: 'Recording',
  stopping: 'The recorder writes what it still has',
  failed: 'The recording failed',
};

/** What a mode records, in the order in which they are offered. */
export const MODE_WORDS: Readonly<Record<MeetingMode, string>> = {
  call: 'A call: the microphone and the sound of that machine',
  room: 'A room: the microphone of that machine',
  phone: 'A room: the microphone of a phone',
};

/** A meeting in a few words, at the top of the board; null where there is none. */
export type Pill = {
  title: string;
  says: string;
  tone: 'live' | 'waiting' | 'fault';
  /** Loudest sample of a phone’s last second, in decibels below full scale; null where none comes. */
  peak_db: number | null;
};

export function pillOf(known: KnownMeeting, every_ms: number, now: number): Pill | null {
  const { answer } = known;
  if (answer === null || answer.meeting === null) return null;
  const { meeting, audio } = answer;
  const common = { title: meeting.title, peak_db: null };
  const age = agedMs(known, every_ms, now);
  if (age !== null) return { ...common, tone: 'waiting', says: `as of ${lasting(age)} ago` };
  if (meeting.state === 'failed') return { ...common, tone: 'fault', says: 'failed' };
  if (meeting.error !== null) return { ...common, tone: 'fault', says: 'has a fault' };
  if (meeting.state !== 'live') return { ...common, tone: 'waiting', says: PILL_WORDS[meeting.state] };
  if (audio !== null && !audio.connected) return { ...common, tone: 'fault', says: 'no phone' };
  return {
    ...common,
    tone: 'live',
    says: elapsedText(now - meeting.started_at),
    peak_db: audio?.peak_db ?? null,
  };
}

const PILL_WORDS = { starting: 'starts', loading: 'loads', stopping: 'stops' } as const;

/** Whether a recording is there that a second one would be refused for (MTG-3). */
export function isRunning(meeting: Meeting | null): meeting is Meeting {
  return meeting !== null && meeting.state !== 'failed';
}

/** A line of a transcript: when it was begun, who spoke, and what was said. */
export type SpokenLine = { at: string; speaker: string; text: string };

/** The parts of a line; one of another form is its text alone. */
export function spokenLine(line: string): SpokenLine {
  const [, at, speaker, text] = /^(\d\d:\d\d:\d\d)-\d\d:\d\d:\d\d (\S+) (.*)$/.exec(line) ?? [];
  return { at: at ?? '', speaker: speaker ?? '', text: text ?? line };
}

/** The body of an answer that refuses, as far as a meeting is meant by it. */
export function refusedMeeting(body: unknown): { meeting: Meeting | null; recording: boolean } {
  const { meeting = null, recording = false } = (body ?? {}) as {
    meeting?: Meeting | null;
    recording?: boolean;
  };
  return { meeting, recording: recording === true };
}

/** What a reader chose for a meeting of its own: a note, whose first line is the title, and where its worker runs. */
export type MeetingChoice = { note: string; host: string; project: string };
export const NO_CHOICE: MeetingChoice = { note: '', host: '', project: '' };

/** `POST /capture` for a meeting; `store` is the root of the store of its fiber, or empty. */
export function captureMeeting(mode: MeetingMode, choice: MeetingChoice, store: string): CaptureRequest {
  const { note, host, project } = choice;
  return {
    project_dir: project,
    meeting: { mode },
    ...(note.trim() === '' ? {} : { prompt: note.trim() }),
    ...(store === '' ? {} : { store }),
    ...(host === '' ? {} : { origin: host }),
  };
}

/** `POST /meeting/join` for a fiber of a host, of the one that answers for null. */
export function joinMeeting(
  mode: MeetingMode,
  fiber_id: string,
  origin: string | null,
  note: string,
): MeetingJoin {
  return {
    fiber_id,
    ...(origin === null ? {} : { origin }),
    meeting: { mode },
    ...(note.trim() === '' ? {} : { note: note.trim() }),
  };
}
