import {
  createProcessFacts,
  isEndedState,
  judgeLife,
  lookUpProcess,
  type ProcessLife,
  type ProcessLookup,
} from '../../platform/process-facts.ts';

/** A process in `daemon.json`; `start_time` is null if the daemon's system did not report it. */
export type NamedProcess = { pid: number; start_time: string | null };

/** Whether exactly this process still runs; `unknown` if the system does not answer. */
export async function processLife(named: NamedProcess): Promise<ProcessLife> {
  const found = await lookUp(named.pid);
  if (named.start_time !== null) return judgeLife({ pid: named.pid, start_time: named.start_time }, found);
  if (found.kind !== 'found') return found.kind;
  return isEndedState(found.row.state) ? 'gone' : 'alive';
}

/** Identifies a process that runs now, so that it can be recognised later. */
export async function nameProcess(pid: number): Promise<NamedProcess> {
  const found = await lookUp(pid);
  return { pid, start_time: found.kind === 'found' ? found.row.start_time : null };
}

/** Sends a signal to exactly this process; does nothing if it has ended or cannot be identified. */
export async function signalProcess(named: NamedProcess, signal: NodeJS.Signals): Promise<void> {
  if ((await processLife(named)) === 'alive') process.kill(named.pid, signal);
}

async function lookUp(pid: number): Promise<ProcessLookup> {
  if (process.platform === 'linux') return lookUpProcess(pid);
  // Only systems without `/proc` run a program for this, and loading the runner would slow down every command.
  const { createRunner } = await import('../../platform/process.ts');
  return createProcessFacts({ platform: process.platform, runner: createRunner() }).lookUp(pid);
}
