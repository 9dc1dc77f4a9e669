import { readdirSync, readFileSync } from 'node:fs';
import { isEndedState, judgeLife, lookUpProcess, type ProcessRow } from '../../src/platform/process-facts.ts';

export type NamedRow = ProcessRow & { command: string };

/**
 * Every process that was started with `mark` in its environment and has not ended: the daemon of a test, the
 * tmux server it made, its workers and their children all carry the test's folder there. Linux only.
 */
export function processesMarked(mark: string): NamedRow[] {
  const rows: NamedRow[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const found = lookUpProcess(Number(name));
    if (found.kind !== 'found' || isEndedState(found.row.state)) continue;
    if (textOf(`/proc/${name}/environ`).includes(mark))
      rows.push({ ...found.row, command: textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim() });
  }
  return rows;
}

export function isRunning(row: ProcessRow): boolean {
  return judgeLife(row, lookUpProcess(row.pid)) === 'alive';
}

/** Sends a signal to exactly this process; nothing where it has ended. */
export function signal(row: ProcessRow, name: NodeJS.Signals): void {
  if (isRunning(row)) process.kill(row.pid, name);
}

/** The process of this id as it is now; throws where there is none. */
export function processOf(pid: number): ProcessRow {
  const found = lookUpProcess(pid);
  if (found.kind !== 'found') throw new Error(`there is no process ${pid}`);
  return found.row;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
