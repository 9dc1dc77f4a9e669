import type { MeetingAnswer } from '../../../contract/http/meeting.ts';
import { formatDuration } from '../../command-line/output.ts';

/** The level below which the meter is empty, in decibels below full scale, and its marks. */
const QUIET_DB = -60;
const MARKS = 20;

/** The lines of a tail that an earlier one did not have; the oldest lines of a tail are left out as it grows. */
export function newLines(before: readonly string[], after: readonly string[]): string[] {
  for (let from = 0; from < before.length; from += 1) {
    const kept = before.slice(from);
    if (kept.every((line, at) => after[at] === line)) return after.slice(kept.length);
  }
  return [...after];
}

/** `[########------------] -36 dB`; null where no phone is heard. */
export function meterLine(audio: MeetingAnswer['audio']): string | null {
  if (audio?.peak_db == null) return null;
  const share = Math.min(1, Math.max(0, (audio.peak_db - QUIET_DB) / -QUIET_DB));
  const marks = Math.round(share * MARKS);
  return `[${'#'.repeat(marks)}${'-'.repeat(MARKS - marks)}] ${Math.round(audio.peak_db)} dB`;
}

/** What is to be known of a meeting, without its tail; ends with a newline. */
export function meetingPage(answer: MeetingAnswer, now: number, svc = 'svc'): string {
  const { meeting, modes, unavailable, audio } = answer;
  if (meeting === null) {
    if (unavailable !== null) return `No meeting is recorded. ${unavailable}\n`;
    return `No meeting is recorded. This host can record: ${modes.join(', ')}.\nStart one with: ${svc} meeting start --project-dir <dir>\n`;
  }
  const { state, title, started_at, transcript, fiber, mirror_host, error } = meeting;
  const scribe = fiber === null ? 'no fiber yet' : fiber;
  return [
    `"${title}" ${state === 'failed' ? 'has failed' : `is ${state}`}, started ${formatDuration(now - started_at)} ago`,
    ...(error === null ? [] : [`  fault       ${error}`]),
    `  transcript  ${transcript}${mirror_host === null ? '' : ` (mirrored to ${mirror_host})`}`,
    `  fiber       ${scribe}`,
    ...(meeting.phone ? [`  phone       ${phoneOf(audio)}`] : []),
    '',
  ].join('\n');
}

function phoneOf(audio: MeetingAnswer['audio']): string {
  if (audio === null) return 'not connected';
  const dropped =
    audio.dropped === 0 ? '' : `, ${audio.dropped} of ${audio.frames + audio.dropped} frames lost`;
  const state = audio.connected ? `connected ${meterLine(audio) ?? ''}`.trimEnd() : 'not connected';
  return `${state}${dropped}`;
}
