import type { MeetingStateName } from '../contract/http/meeting.ts';
import type { RecorderPhase, RecorderState } from '../contract/recorder.ts';
import type { MeetingRecord } from './meeting-record.ts';

/** Milliseconds after which a recorder that was told to stop is said to be late. */
export const STOP_LATE_MS = 30_000;

/** What is seen of a meeting at one moment. */
export type SeenMeeting = {
  /** The lifecycle file as it was last read; null where none of this launch was. */
  file: Pick<RecorderState, 'phase' | 'error' | 'fault'> | null;
  /** Why the file that is there now cannot be read; null where it can, or none is there. */
  unreadable: string | null;
  /** The recorder's process; `unknown` where the system does not tell. */
  life: 'alive' | 'gone' | 'unknown';
  /** The folder of its files, where its disk is full: the recorder cannot write that into its own file then. */
  full: string | null;
  /** The last line of its standard error. */
  log: string | null;
  now: number;
};

export type JudgedMeeting = { state: MeetingStateName; error: string | null };

/**
 * The state of a meeting (MTS-1 to MTS-7); null once it is over. A recorder whose file cannot be read is as it was last
 * seen for as long as its process may be there, and one that was never seen loads: it may record, so that a stop
 * interrupts it.
 */
export function judgeMeeting(
  { stop_asked_at, process }: Pick<MeetingRecord, 'stop_asked_at' | 'process'>,
  { file, unreadable, full, life, log, now }: SeenMeeting,
): JudgedMeeting | null {
  const phase = file?.phase ?? (unreadable === null ? null : 'loading');
  if (phase === 'ended') return null;
  if (phase === 'failed')
    return { state: 'failed', error: file?.error ?? log ?? 'The recorder failed without saying why.' };
  if (life === 'gone' && unreadable !== null)
    return {
      state: 'failed',
      error: `The recorder ended, and how cannot be read (${unreadable}); what it wrote is in the transcript.`,
    };
  if (life === 'gone') {
    // One that was told to stop before it recorded anything has nothing to finish.
    const is_over = stop_asked_at !== null && (phase === null || phase === 'loading');
    return is_over ? null : { state: 'failed', error: deathOf(phase, log) };
  }
  if (phase === 'stopping' || stop_asked_at !== null) {
    const is_late = stop_asked_at !== null && now - stop_asked_at > STOP_LATE_MS;
    const late = is_late
      ? `The recorder has not ended ${Math.round((now - stop_asked_at) / 1000)} s after it was told to stop.${endOf(process)}`
      : null;
    return { state: 'stopping', error: joined(file?.fault ?? null, diskFault(full), late) };
  }
  return {
    state: phase ?? 'starting',
    error: joined(faultOf(file?.fault ?? null, unreadable), diskFault(full)),
  };
}

/** Milliseconds after which a stop that a recorder has not taken up may have been lost. */
export const STOP_UNHEARD_MS = 2_000;

/**
 * Whether the signal of a stop is still to be sent: a daemon that was killed between writing the stop down and sending it,
 * or that did not know the process yet, never sent it (MTS-5). `sent` is whether this daemon did.
 */
export function isStopLost(
  { stop_asked_at }: Pick<MeetingRecord, 'stop_asked_at'>,
  { file, life, now, sent }: Pick<SeenMeeting, 'file' | 'life' | 'now'> & { sent: boolean },
): boolean {
  if (stop_asked_at === null || sent || life !== 'alive') return false;
  const phase = file?.phase ?? 'loading';
  // A clock that was set back must not keep it waiting.
  return (phase === 'loading' || phase === 'live') && Math.abs(now - stop_asked_at) >= STOP_UNHEARD_MS;
}

/** How a person ends a recorder that does not end; nothing where its process is not known. */
function endOf(process: MeetingRecord['process']): string {
  return process === null ? '' : ` End it with: kill -9 ${process.pid}`;
}

function faultOf(fault: string | null, unreadable: string | null): string | null {
  if (unreadable === null) return fault;
  return `What the recorder says of itself cannot be read (${unreadable}); it is shown as it was last seen. End it with: svc meeting stop`;
}

function diskFault(full: string | null): string | null {
  return full === null ? null : `The disk of ${full} is full; free space there.`;
}

/** What is wrong in one text; null where nothing is. */
function joined(...faults: (string | null)[]): string | null {
  const said = faults.filter((fault) => fault !== null);
  // A fault of a recorder ends without a full stop.
  return said.length === 0
    ? null
    : said
        .map((fault, nth) => (nth === said.length - 1 || fault.endsWith('.') ? fault : `${fault}.`))
        .join(' ');
}

/** Whether the recorder may have taken speech by then. */
function deathOf(phase: RecorderPhase | null, log: string | null): string {
  const why = log === null ? '' : ` It said: ${log}`;
  if (phase === null || phase === 'loading') return `The recorder ended before it recorded anything.${why}`;
  return `The recorder ended in the middle of the meeting; what it wrote until then is in the transcript.${why}`;
}

/** What ends a meeting in this state (MTS-5 to MTS-7). */
export type StopStep = 'dismiss' | 'interrupt' | 'nothing';

export function stopStep({ state }: JudgedMeeting): StopStep {
  if (state === 'starting' || state === 'failed') return 'dismiss';
  return state === 'stopping' ? 'nothing' : 'interrupt';
}

/**
 * Why a meeting in this state takes no mark: before the recorder is live its first line is missing, which names the engine,
 * and `# ended` is the last one.
 */
export function markRefusal(state: JudgedMeeting['state']): string | null {
  if (state === 'live') return null;
  if (state === 'stopping') return 'The meeting is being stopped, and takes no mark any more.';
  if (state === 'failed')
    return 'The recorder has ended, and the meeting takes no mark any more; start another one with: svc meeting start --project-dir <dir>';
  return 'The recorder is getting ready, and takes no mark yet; try again in a moment.';
}
