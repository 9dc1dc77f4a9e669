import { showBytes } from '../../contract/memory-max.ts';
import type { ExitRecord } from './run-records.ts';
import type { MemoryEnd } from './worker-memory.ts';

/** A group that was this full when it was killed was killed for its own limit. */
const FULL = 0.95;

/** True when the agent itself was killed for want of memory; a command of its own may have been, and it lived on. */
export function isKilledForMemory(exit: Pick<ExitRecord, 'signal'> | null, end: MemoryEnd | null): boolean {
  return exit?.signal === 'SIGKILL' && end !== null && end.worker.kills > 0;
}

/** One sentence on a worker that was killed for want of memory; `others` are the workers that live on. */
export function describeMemoryEnd({ worker, total }: MemoryEnd, others: number): string {
  const used = worker.peak ?? worker.limit;
  const at = used === null ? 'killed' : `killed at ${showBytes(used)}`;
  return `${at} ${causeOf({ worker, total })}; ${unharmed(others)}`;
}

function causeOf({ worker, total }: MemoryEnd): string {
  if (isFull(worker)) return 'by its memory limit';
  if (total !== null && total.limit !== null && isFull(total))
    return `because all workers together reached their limit of ${showBytes(total.limit)}`;
  return 'because the machine ran out of memory';
}

/** A kernel that keeps no peak kills in a group with a limit for that limit. */
function isFull({ peak, limit }: MemoryEnd['worker']): boolean {
  return limit !== null && (peak === null || peak >= FULL * limit);
}

function unharmed(others: number): string {
  if (others === 0) return 'no other worker ran';
  return `${others} ${others === 1 ? 'other' : 'others'} unharmed`;
}
