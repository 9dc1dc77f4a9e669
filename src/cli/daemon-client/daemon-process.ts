import {
  createProcessFacts,
  isEndedState,
  judgeLife,
  lookUpProcess,
  type ProcessLife,
  type ProcessLookup,
} from '../../platform/process-facts.ts';

/** A process as `daemon.json` names it; `start_time` is null where the daemon's system did not tell. */
export type NamedProcess = { pid: number; start_time: string | null };

/** Whether exactly this process still runs; `unknown` when the system does not answer. */
export async function processLife(named: NamedProcess): Promise<ProcessLife> {
  const found = await lookUp(named.pid);
  if (named.start_time !== null) return judgeLife({ pid: named.pid, start_time: named.start_time }, found);
  if (found.kind !== 'found') return found.kind;
  return isEndedState(found.row.state) ? 'gone' : 'alive';
}

/** Names a process that runs now, so that it can be asked for later. */
export async function nameProcess(pid: number): Promise<NamedProcess> {
  const found = await lookUp(pid);
  return { pid, start_time: found.kind === 'found' ? found.row.start_time : null };
}

/** Sends a signal to exactly this process; nothing where it has ended or cannot be told from another. */
export async function signalProcess(named: NamedProcess, signal: NodeJS.Signals): Promise<void> {
  if ((await processLife(named)) === 'alive') process.kill(named.pid, signal);
}

async function lookUp(pid: number): Promise<ProcessLookup> {
  if (process.platform === 'linux') return lookUpProcess(pid);
  // Only other systems need a program for it, and loading the runner costs every command its start time.
  const { createRunner } = await import('../../platform/process.ts');
  return createProcessFacts({ platform: process.platform, runner: createRunner() }).lookUp(pid);
}
