import {
  HOUR_MS,
  heightsOf,
  MINUTE_MS,
  type Recorded,
  type Stretch,
  sumOf,
  type Trace,
  within,
} from './activity.ts';
import { lasting } from './wording.ts';

/** How far back a wake reaches. */
export const WAKE_MS = 1.5 * HOUR_MS;

/** The worker whose wake a card carries. Moments are milliseconds since the Unix epoch. */
export type Wake = {
  /** Its session in the ledgers; null while it has none. */
  session: string | null;
  since: number;
  /** Since when it waits for a person; null if it does not. */
  waits_since: number | null;
};

/** A wake as it is drawn: across from 0, an hour and a half ago, to 1, now; heights from 0 to 1. */
export type WakeShape = {
  curve: readonly { x: number; height: number }[];
  /** Where a person spoke. */
  ticks: readonly number[];
  /** From where on it waits for a person. */
  waits: number | null;
  /** What was not read. */
  unknown: readonly { from: number; to: number }[];
  /** Says the same in words. */
  label: string;
};

/** The shape of a wake; null if nothing is recorded of its session, as of a program without hooks. */
export function wakeShape(wake: Wake, trace: Trace, known: Recorded, now: number): WakeShape | null {
  const window: Stretch = { from: now - WAKE_MS, to: now };
  const work = within(trace.work, { from: window.from - 2 * MINUTE_MS, to: now });
  const words = within(trace.words, { from: window.from, to: now });
  if (work.length === 0 && words.length === 0) return null;
  const x = (ms: number) => Math.min(1, Math.max(0, (ms - window.from) / WAKE_MS));
  const begin = Math.min(wake.since, work[0]?.m ?? now);
  const from = floorMinute(Math.max(begin, window.from, known.from));
  const to = Math.max(from, Math.min(now, known.to, wake.waits_since ?? now));
  const heights = heightsOf(work, { from, to }, Number.POSITIVE_INFINITY);
  const curve = heights.map((height, minute) => ({
    x: x(Math.min(to, from + (minute + 0.5) * MINUTE_MS)),
    height,
  }));
  const last = heights.at(-1) ?? 0;
  return {
    curve: [{ x: x(from), height: 0 }, ...curve, { x: x(to), height: wake.waits_since === null ? last : 0 }],
    ticks: words.map(({ m }) => x(m + MINUTE_MS / 2)),
    waits: wake.waits_since === null ? null : x(wake.waits_since),
    unknown: [
      ...(known.from > window.from ? [{ from: 0, to: x(known.from) }] : []),
      // A read is at most a minute apart from the next one.
      ...(wake.waits_since === null && now - known.to > LATE_MS ? [{ from: x(known.to), to: 1 }] : []),
    ],
    label: labelOf(wake, work.length, sumOf(words), now),
  };
}

const LATE_MS = 2 * MINUTE_MS;

function labelOf(wake: Wake, minutes: number, words: number, now: number): string {
  const worked = `active in ${minutes} of the last 90 minutes`;
  const spoke = words === 0 ? '' : `, you spoke ${words === 1 ? 'once' : `${words} times`}`;
  const waits = wake.waits_since === null ? '' : `, waiting for ${lasting(now - wake.waits_since)}`;
  return `${worked}${spoke}${waits}`;
}

function floorMinute(ms: number): number {
  return Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}
