import { readdirSync, readFileSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';
import type { ProcessRunner } from './process.ts';

/** A process and its start time, so that a reused pid is not mistaken for it. */
export type ProcessIdentity = {
  pid: number;
  /** Linux: clock ticks since boot; macOS: `ps`'s start date in UTC. Opaque: only compared. */
  start_time: string;
};

/** `unknown`: the kernel did not answer. Never treat it as gone. */
export type ProcessLife = 'alive' | 'gone' | 'unknown';

export type ProcessRow = ProcessIdentity & {
  parent: number;
  /** Session id of the process; null where the OS does not report it. */
  session: number | null;
  /** First letter of the state: `R`, `S`, `D`, `T`, `Z`, … */
  state: string;
};

export type ProcessLookup = { kind: 'found'; row: ProcessRow } | { kind: 'gone' } | { kind: 'unknown' };

/** Process information from the kernel, the same on every OS. */
export type ProcessFacts = {
  lookUp(pid: number): Promise<ProcessLookup>;
  /** Every visible process, or null if the list could not be read. */
  table(): Promise<ProcessRow[] | null>;
};

const INIT_PID = 1;
const SERVICE_MANAGER = 'systemd';

/** Whether this process takes over those whose parent has ended: the first one, or the service manager of a Linux user. */
export function isAdopter(pid: number): boolean {
  if (pid === INIT_PID) return true;
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd() === SERVICE_MANAGER;
  } catch {
    // It has ended, or this system has no /proc; there the first process takes all.
    return false;
  }
}

/** The processes of this machine: from `/proc` on Linux, else from `ps`. */
export function createProcessFacts(options: {
  platform: NodeJS.Platform;
  runner: ProcessRunner;
}): ProcessFacts {
  if (options.platform === 'linux') {
    return { lookUp: async (pid) => lookUpProcess(pid), table: async () => processTable() };
  }
  const ps = async (selection: string[]): Promise<ProcessRow[] | null> => {
    const answer = await options.runner.run({
      file: '/bin/ps',
      args: [...selection, '-o', 'pid=,ppid=,stat=,lstart='],
      // The start date is a text; fixed zone and language keep it comparable with the run script's.
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC0' },
      timeout_ms: 3_000,
      max_output_bytes: 4 * 1024 * 1024,
    });
    if (answer.kind !== 'exited') return null;
    // `ps -p` exits 1 with nothing on stderr when there is no such process.
    if (answer.code !== 0 && answer.stderr !== '') return null;
    return parsePsRows(answer.stdout);
  };
  return {
    async lookUp(pid) {
      if (!isRealPid(pid)) return { kind: 'gone' };
      const rows = await ps(['-p', String(pid)]);
      if (rows === null) return { kind: 'unknown' };
      const row = rows.find((candidate) => candidate.pid === pid);
      return row === undefined ? { kind: 'gone' } : { kind: 'found', row };
    },
    table: () => ps(['-ax']),
  };
}

/** True for a pid that may be signalled; 0, 1 and negative numbers address groups or init. */
export function isRealPid(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 1;
}

/** Whether the looked-up process is still the same one; a zombie has ended. */
export function judgeLife(identity: ProcessIdentity, found: ProcessLookup): ProcessLife {
  if (found.kind !== 'found') return found.kind;
  if (found.row.start_time !== identity.start_time) return 'gone';
  return isEndedState(found.row.state) ? 'gone' : 'alive';
}

export async function isAlive(facts: ProcessFacts, identity: ProcessIdentity): Promise<ProcessLife> {
  return judgeLife(identity, await facts.lookUp(identity.pid));
}

/** A zombie (`Z`) or dead process (`X`) runs no code. */
export function isEndedState(state: string): boolean {
  return state === 'Z' || state === 'X' || state === 'x';
}

/** The descendants of `pid`, nearest first, without `pid` itself. */
export function descendantsIn(table: readonly ProcessRow[], pid: number): ProcessRow[] {
  const byParent = new Map<number, ProcessRow[]>();
  for (const row of table) {
    const siblings = byParent.get(row.parent);
    if (siblings === undefined) byParent.set(row.parent, [row]);
    else siblings.push(row);
  }
  const seen = new Set([pid]);
  const found: ProcessRow[] = [];
  for (let queue = [pid]; queue.length > 0; ) {
    const next: number[] = [];
    for (const parent of queue) {
      for (const child of byParent.get(parent) ?? []) {
        if (seen.has(child.pid)) continue;
        seen.add(child.pid);
        found.push(child);
        next.push(child.pid);
      }
    }
    queue = next;
  }
  return found;
}

/** Linux: one process from `/proc`. */
export function lookUpProcess(pid: number): ProcessLookup {
  if (!isRealPid(pid)) return { kind: 'gone' };
  try {
    const row = parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return row === null ? { kind: 'unknown' } : { kind: 'found', row };
  } catch (error) {
    const code = systemCode(error);
    return { kind: code === 'ENOENT' || code === 'ESRCH' ? 'gone' : 'unknown' };
  }
}

/** Linux: start time in clock ticks since boot, or null if the process is gone or not visible. */
export function processStartTime(pid: number): string | null {
  const found = lookUpProcess(pid);
  return found.kind === 'found' ? found.row.start_time : null;
}

/** Linux: state letter, or null if the process is gone or not visible. */
export function processState(pid: number): string | null {
  const found = lookUpProcess(pid);
  return found.kind === 'found' ? found.row.state : null;
}

/** Linux: every visible process, or null without `/proc`. */
export function processTable(): ProcessRow[] | null {
  try {
    const rows: ProcessRow[] = [];
    for (const name of readdirSync('/proc')) {
      const found = /^\d+$/.test(name) ? lookUpProcess(Number(name)) : null;
      if (found?.kind === 'found') rows.push(found.row);
    }
    return rows.length === 0 ? null : rows;
  } catch {
    return null;
  }
}

/** One `/proc/<pid>/stat`; the command name may contain spaces and parentheses, so it ends at the last parenthesis. */
export function parseProcStat(text: string): ProcessRow | null {
  const open = text.indexOf(' (');
  const close = text.lastIndexOf(') ');
  if (open < 1 || close < open) return null;
  const fields = text
    .slice(close + 2)
    .trim()
    .split(' ');
  const pid = Number(text.slice(0, open));
  const [state, parent, , session] = fields;
  const start_time = fields[19];
  if (!Number.isInteger(pid) || state === undefined || start_time === undefined) return null;
  return { pid, state, parent: Number(parent), session: Number(session), start_time };
}

/** Lines of `ps -o pid=,ppid=,stat=,lstart=`. */
export function parsePsRows(text: string): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const [pid, parent, state, ...start] = line.trim().split(/\s+/);
    if (pid === undefined || parent === undefined || state === undefined || start.length === 0) continue;
    if (!/^\d+$/.test(pid)) continue;
    rows.push({
      pid: Number(pid),
      parent: Number(parent),
      session: null,
      state: state.charAt(0),
      start_time: start.join(' '),
    });
  }
  return rows;
}

/** False when no process has this id now; a process of another user has one too. */
export function mayRun(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
