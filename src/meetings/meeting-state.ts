import type { MeetingStateName } from '../contract/http/meeting.ts';
import type { RecorderPhase, RecorderState } from '../contract/recorder.ts';
import type { MeetingRecord } from './meeting-record.ts';

/** Milliseconds after which a recorder that was told to stop is said to be late. */
export const STOP_LATE_MS = 30_000;

/** What is seen of a meeting at one moment. */
export type SeenMeeting = {
  /** The lifecycle file; null where it is missing, unreadable or of another launch. */
  file: Pick<RecorderState, 'phase' | 'error' | 'fault'> | null;
  /** The recorder's process; `unknown` where the system does not tell. */
  life: 'alive' | 'gone' | 'unknown';
  /** The last line of its standard error. */
  log: string | null;
  now: number;
};

export type JudgedMeeting = { state: MeetingStateName; error: string | null };

/**
 * The state of a meeting (MTS-1 to MTS-7); null once it is over. A recorder whose file cannot be read counts as started
 * for as long as its process may be there.
 */
export function judgeMeeting(
  { stop_asked_at }: Pick<MeetingRecord, 'stop_asked_at'>,
  { file, life, log, now }: SeenMeeting,
): JudgedMeeting | null {
  const phase = file?.phase ?? null;
  if (phase === 'ended') return null;
  if (phase === 'failed')
    return { state: 'failed', error: file?.error ?? log ?? 'The recorder failed without saying why.' };
  if (life === 'gone') {
    // One that was told to stop before it recorded anything has nothing to finish.
    const is_over = stop_asked_at !== null && (phase === null || phase === 'loading');
    return is_over ? null : { state: 'failed', error: deathOf(phase, log) };
  }
  if (phase === 'stopping' || stop_asked_at !== null) {
    const is_late = stop_asked_at !== null && now - stop_asked_at > STOP_LATE_MS;
    const error = is_late
      ? `The recorder has not ended ${Math.round((now - stop_asked_at) / 1000)} s after it was told to stop.`
      : null;
    return { state: 'stopping', error };
  }
  return { state: phase ?? 'starting', error: file?.fault ?? null };
}

/** Whether the recorder may have taken speech by then. */
function deathOf(phase: RecorderPhase | null, log: string | null): string {
  const why = log === null ? '' : ` It said: ${log}`;
  if (phase === null || phase === 'loading') return `The recorder ended before it recorded anything.${why}`;
  return `The recorder ended in the middle of the meeting; what it wrote until then is in the transcript.${why}`;
}
