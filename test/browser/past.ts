import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestHome } from '../kit/test-home.ts';

const MINUTE_MS = 60_000;

/** What a session did, by minutes before now; the ledger of a machine with hooks would have it. */
export type Past = {
  session: string;
  /** From so many minutes ago to so many, with this many acts in each of its minutes. */
  work?: readonly (readonly [from: number, to: number, acts: (minute: number) => number])[];
  /** When a person typed something. */
  words?: readonly number[];
  /** When it began to wait for a person. */
  waits?: readonly number[];
  /** When it ended a turn. */
  replies?: readonly number[];
};

/** Adds the past of sessions to the ledger of events. */
export function addPast(home: TestHome, now: number, pasts: readonly Past[]): void {
  const lines = pasts.flatMap(({ session, work = [], words = [], waits = [], replies = [] }) => {
    const line = (ago: number, type: string, more: object = {}) => ({
      ...{ id: `${session} ${type} ${ago}`, timestamp: now - ago * MINUTE_MS, type, sessionId: session },
      ...{ cwd: '/work', tmuxSession: null, harness: 'claude', originName: 'past', ...more },
    });
    return [
      ...work.flatMap(([from, to, acts]) =>
        Array.from({ length: from - to }, (_, index) => from - index).flatMap((ago) =>
          Array.from({ length: Math.round(acts(ago)) }, () => line(ago, 'pre_tool_use', { tool: 'Bash' })),
        ),
      ),
      ...words.map((ago) => line(ago, 'user_prompt_submit')),
      ...waits.map((ago) => line(ago, 'notification')),
      ...replies.map((ago) => line(ago, 'stop')),
    ];
  });
  lines.sort((a, b) => a.timestamp - b.timestamp);
  appendFileSync(join(home.data, 'events.jsonl'), lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

/** Acts that come and go, as those of an agent do; the same for the same seed. */
export function tides(seed: number): (minute: number) => number {
  return (minute) => {
    const slow = Math.sin(minute / 7 + seed) + Math.sin(minute / 3.1 + 2 * seed);
    const fast = Math.sin(minute * 12.9898 + seed * 78.233) * 43758.5453;
    return Math.max(0, 4 + 3 * slow + 3 * (fast - Math.floor(fast)));
  };
}
