import { isEndedState, lookUpProcess } from '../../src/platform/process-facts.ts';

/** Whether a process with this id runs; one that has ended and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  const found = lookUpProcess(pid);
  return found.kind === 'found' && !isEndedState(found.row.state);
}
