import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
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
  addLines(home, 'events.jsonl', lines);
}

/** Adds lines to a ledger of a machine. */
export function addLines(home: TestHome, ledger: string, lines: readonly object[]): void {
  mkdirSync(home.data, { recursive: true, mode: 0o700 });
  appendFileSync(join(home.data, ledger), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** A run of a fiber's worker; moments in milliseconds. */
export type PastRun = {
  fiber: string;
  uid: string;
  session: string;
  host: string;
  from: number;
  /** As the ledger tells it; a death also has a `mend`. */
  end: { at: number; reason: string; detail?: string; mend?: string };
};

/** Adds runs that are over to the ledger of sessions. */
export function addRuns(home: TestHome, runs: readonly PastRun[]): void {
  const lines = runs.flatMap(({ from, end, ...run }) => {
    const line = { ...run, thread_id: null, harness: 'claude', mux: null, run_id: `run ${run.session}` };
    return [
      { ...line, at: from, kind: 'dispatch' },
      { ...line, ...end, kind: 'ended' },
    ];
  });
  addLines(home, 'sessions.jsonl', lines);
}

/** What `git` tells of a commit. */
export function commitLine(
  at: number,
  session: string,
  subject: string,
  lines: readonly [number, number],
): object {
  const [insertions, deletions] = lines;
  const sha = createHash('sha1').update(subject).digest('hex');
  const commit = { at, kind: 'commit', sha, subject, repo: '/srv', files: 1, insertions, deletions };
  return { ...commit, mux: null, session, cwd: '/srv' };
}

/** What a hook tells of files that a worker sent. */
export function sentLine(timestamp: number, sessionId: string, files: readonly string[]): object {
  return {
    timestamp,
    type: 'pre_tool_use',
    tool: 'SendUserFile',
    sessionId,
    toolInput: { files },
    cwd: '/srv',
  };
}

/** Writes the transcript of a conversation. */
export function writeTranscript(
  home: TestHome,
  session: string,
  said: readonly (readonly [at: number, role: 'user' | 'assistant', text: string])[],
): void {
  const lines = said.map(([at, role, text]) => ({
    ...{ type: role, sessionId: session, cwd: '/srv', timestamp: new Date(at).toISOString() },
    message: { role, content: [{ type: 'text', text }] },
  }));
  const folder = join(home.claude, 'projects', '-srv');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${session}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** A moment of the day before today, where the test runs; minutes may be negative. */
export function yesterdayAt(hour: number, minute = 0): number {
  const day = new Date();
  day.setDate(day.getDate() - 1);
  day.setHours(hour, minute, 0, 0);
  return day.getTime();
}

/** Yesterday as the address of the board has it. */
export function yesterday(): string {
  const day = new Date(yesterdayAt(12));
  const two = (value: number) => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** Acts that come and go, as those of an agent do; the same for the same seed. */
export function tides(seed: number): (minute: number) => number {
  return (minute) => {
    const slow = Math.sin(minute / 7 + seed) + Math.sin(minute / 3.1 + 2 * seed);
    const fast = Math.sin(minute * 12.9898 + seed * 78.233) * 43758.5453;
    return Math.max(0, 4 + 3 * slow + 3 * (fast - Math.floor(fast)));
  };
}
