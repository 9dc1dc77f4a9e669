import type { ScreenMessage, TerminalRun } from './wire.ts';

/** What is known of a terminal: its lines by number, those before `top` being history. */
export type Screen = {
  first: number;
  top: number;
  columns: number;
  /** Why it may be out of date. */
  stale: string | null;
  /** The lines from `first` on. A line that did not change stays the same array. */
  lines: readonly (readonly TerminalRun[])[];
};

const NOTHING: readonly TerminalRun[] = [];

export const NO_SCREEN: Screen = { first: 0, top: 0, columns: 0, stale: null, lines: [] };

/** The screen after a message of `GET /terminal`. */
export function applyScreen(before: Screen, message: ScreenMessage): Screen {
  const { first, top, end, columns, stale } = message;
  const lines = Array.from(
    { length: end - first },
    (_, index) => before.lines[first + index - before.first] ?? NOTHING,
  );
  for (const { n, runs } of message.lines) if (n >= first && n < end) lines[n - first] = runs;
  return { first, top, columns, stale, lines };
}

/** How many lines there are up to the last one that is not empty: a terminal is seldom full. */
export function filledLines({ lines }: Screen): number {
  return lines.findLastIndex((runs) => runs.length > 0) + 1;
}
