import type { MessageTarget } from '../contract/threads/message-target.ts';
import type { InputScreen } from '../harness/harness.ts';

export type Session = Extract<MessageTarget, { kind: 'running' }>;
export type Terminal = NonNullable<Session['mux']>;

/** What to do with a message that was not given to its session yet. */
export type DeliveryStep =
  | { kind: 'type'; session: Session; terminal: Terminal }
  /** Through a way of the program that presses no keys. */
  | { kind: 'hand'; session: Session; transport: string }
  /** Through the app server. */
  | { kind: 'give'; session: Session }
  | { kind: 'hold'; detail: string }
  | { kind: 'reject'; reason: 'session_unavailable' | 'session_not_found' | 'wake_refused'; detail: string };

export type DeliveryFacts = {
  /** Null while the poller does not answer. */
  target: MessageTarget | null;
  /** The way on which the program answers without a key pressed, and its screen does not matter then; else null. */
  way: string | null;
  /** Null if the screen could not be read, or was not looked at yet. */
  screen: InputScreen | null;
  /** How long the message has waited, in milliseconds. */
  waited_ms: number;
  /** How long it may. */
  most_ms: number;
};

/** Least time, in milliseconds, that each daemon gives to a message that an earlier one held. */
const LEAST_HOLD_MS = 3_600_000;

/**
 * How long a message has waited, where the wall clock may be wrong: no longer than this daemon has run, and of one that an
 * earlier daemon held no longer than leaves it its time here.
 */
export function waitedFor({
  age_ms,
  uptime_ms,
  is_of_earlier,
  most_ms,
}: {
  /** By the wall clock. */
  age_ms: number;
  /** By a clock that nobody sets. */
  uptime_ms: number;
  is_of_earlier: boolean;
  most_ms: number;
}): number {
  const before = is_of_earlier ? Math.max(0, most_ms - LEAST_HOLD_MS) : 0;
  return Math.min(age_ms, before + uptime_ms);
}

const WAITS: Record<InputScreen, string> = {
  ready: 'its terminal does not answer',
  draft: 'somebody’s draft is in its composer; it is sent when the composer is empty',
  dialog: 'it asks a question; the message is sent when that is answered',
  unknown: 'its screen shows no composer; the message is sent when there is one',
};

const MISSING = 'the app server has no such conversation; svc dispatch --resume-mode fresh begins a new one';

/** Decides the next step; nothing is typed into a session that would not take it as a message of its own. */
export function nextStep({ target, way, screen, waited_ms, most_ms }: DeliveryFacts): DeliveryStep {
  if (target?.kind === 'none')
    return reject(
      'session_not_found',
      'no worker of this host has had this session; svc ps lists those that run',
    );
  if (target?.kind === 'past')
    return reject('session_unavailable', 'no worker is in this session now; svc dispatch starts one');
  if (target?.kind === 'running' && target.app === 'missing') return reject('session_unavailable', MISSING);
  if (target?.kind === 'running' && target.app === 'ready') return { kind: 'give', session: target };
  if (target?.kind === 'running' && way !== null) return { kind: 'hand', session: target, transport: way };
  if (target?.kind === 'running' && target.mux !== null && screen === 'ready')
    return { kind: 'type', session: target, terminal: target.mux };
  const why = waitsFor(target, screen);
  if (waited_ms >= most_ms) return reject('wake_refused', `it was held until it was too old: ${why}`);
  return { kind: 'hold', detail: why };
}

/** Of a target that the poller could not tell of. */
export const NOT_FOUND_YET = 'the daemon does not know yet where its worker is, and looks again';

function waitsFor(target: MessageTarget | null, screen: InputScreen | null): string {
  if (target === null) return NOT_FOUND_YET;
  if (target.kind === 'moving') return target.detail;
  if (target.kind === 'unknown') return `its terminal does not answer: ${target.detail}`;
  if (target.kind === 'running' && target.app !== null)
    return target.app === 'starting'
      ? 'its conversation has not begun yet'
      : 'its app server does not answer; start it';
  if (screen === null) return 'its screen cannot be read';
  return WAITS[screen];
}

function reject(
  reason: (DeliveryStep & { kind: 'reject' })['reason'],
  detail: string,
): DeliveryStep & { kind: 'reject' } {
  return { kind: 'reject', reason, detail };
}
