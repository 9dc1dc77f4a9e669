import { readdirSync, readFileSync } from 'node:fs';

/** The first answer that is not null, asked every 50 ms; null when none came in time. */
export async function eventually<T>(ask: () => Promise<T | null>, timeout_ms: number): Promise<T | null> {
  const end = Date.now() + timeout_ms;
  for (;;) {
    const answer = await ask();
    if (answer !== null || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Ids of the living processes in whose environment a variable has this value, without tmux servers; Linux only,
 * empty elsewhere.
 */
export function processesWith(name: string, value: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && `\0${environmentOf(pid)}`.includes(`\0${name}=${value}\0`))
    .map(Number)
    .filter((pid) => isAlive(pid) && !isTmuxServer(pid));
}

/** The command line of a process, for the message of a test that finds one too many. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '(gone)';
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function isTmuxServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('tmux');
  } catch {
    return false;
  }
}
