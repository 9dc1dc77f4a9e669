import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CaseResult } from './subject.ts';

const SUBJECT = fileURLToPath(new URL('subject.ts', import.meta.url));
/** Processor time that one input may take, in milliseconds; a reader that takes longer is killed. */
export const MOST_CPU_MS = 2_000;
/** And time on the clock, for one that waits for ever. */
const MOST_WALL_MS = 30_000;
const LOOK_EVERY_MS = 100;
/** Ticks of processor time a second, as Linux tells them. */
const TICK_MS = 10;

/** A case that was read, or one during which the process was killed or died: then `result` is null. */
export type Seen = {
  number: number;
  target: string;
  pump: string | null;
  result: CaseResult | null;
  /** Why there is no result. */
  end: 'time' | 'died' | null;
  /** What the reference says against it. */
  differences: string[];
  stderr: string;
};

/**
 * Runs a subject and gives each case as it is done. A case that takes too long is given with `end`, and the subject is
 * ended with it. Resolves when the subject has ended, `take` has answered false, or `until_ms` has come.
 */
export function watchSubject(
  args: readonly string[],
  until_ms: number,
  signal: AbortSignal,
  take: (seen: Seen) => boolean,
): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512', SUBJECT, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let now: (Omit<Seen, 'end' | 'stderr'> & { since: number; cpu: number; judging: boolean }) | null = null;
  let stderr = '';
  let over = false;
  const stop = () => {
    over = true;
    child.kill('SIGKILL');
  };
  const give = (end: Seen['end']) => {
    if (now === null) return;
    const { number, target, pump, result, differences } = now;
    now = null;
    if (!take({ number, target, pump, result, differences, end, stderr })) stop();
  };
  child.stderr.on('data', (text) => {
    stderr = `${stderr}${text}`.slice(-2_000);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [sign, number = '', ...rest] = line.split(' ');
    if (over) return;
    if (sign === '<') {
      const pump = JSON.parse(rest.slice(1).join(' ')) as string | null;
      now = {
        number: Number(number),
        target: rest[0]!,
        pump,
        result: null,
        differences: [],
        since: Date.now(),
        cpu: cpuOf(child),
        judging: false,
      };
    } else if (now !== null && sign === '=') {
      now.result = JSON.parse(rest.join(' ')) as CaseResult;
      now.judging = true;
    } else if (now !== null && sign === '>') {
      now.differences = JSON.parse(rest.join(' ')) as string[];
      give(null);
    }
  });
  const look = setInterval(() => {
    if (Date.now() > until_ms + MOST_WALL_MS || (Date.now() > until_ms && now === null) || signal.aborted)
      stop();
    if (now === null || over) return;
    const slow = cpuOf(child) - now.cpu > MOST_CPU_MS || Date.now() - now.since > MOST_WALL_MS;
    if (!slow) return;
    // The reference may take its time; that says nothing of what is searched.
    give(now.judging ? null : 'time');
    stop();
  }, LOOK_EVERY_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(look);
      if (!over) give(now?.judging === true ? null : 'died');
      resolve();
    });
  });
}

/** Processor time of a process in milliseconds; 0 where the system does not tell, and then the clock alone decides. */
function cpuOf(child: ChildProcess): number {
  try {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}
