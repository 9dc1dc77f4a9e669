import { readFileSync, readlinkSync } from 'node:fs';

/** What the kernel says of one thread of this process. Times in milliseconds since it began. */
export type ThreadWork = {
  /** It ran. */
  ran_ms: number;
  /** It was ready to run, and others had the processor. */
  waited_ms: number;
  /** It is ready to run now, or runs. */
  is_ready: boolean;
};

/** The number that the kernel has for the thread that asks; 0 where the system does not tell. */
export function ownThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/** Null where the system does not tell, and for a thread that has ended. Source: `Documentation/scheduler/sched-stats.rst` of Linux. */
export function readThreadWork(thread: number): ThreadWork | null {
  if (thread === 0) return null;
  try {
    const folder = `/proc/self/task/${thread}`;
    const [ran = 0, waited = 0] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number);
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself.
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    return { ran_ms: ran / 1e6, waited_ms: waited / 1e6, is_ready: state === 'R' };
  } catch {
    return null;
  }
}
