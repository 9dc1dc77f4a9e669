import type { CaseResult } from './subject.ts';
import { MOST_CPU_MS, type Seen } from './watched-subject.ts';

/** Microseconds of processor time a byte, for inputs of at least `LEAST_BYTES`; a good reader takes a hundredth. */
const MOST_US_A_BYTE = 50;
const LEAST_BYTES = 4 * 1024;
/** Memory a byte, beyond what any reading may take. */
const MOST_MEMORY_A_BYTE = 400;
const FREE_MEMORY = 96 * 1024 * 1024;

/** A kind of misbehaviour, and a sentence with the numbers. */
export type Verdict = { kind: 'time' | 'memory' | 'died' | 'threw' | 'differs'; told: string };

/** What is wrong with one case; null for nothing. */
export function verdictOf(seen: Seen): Verdict | null {
  if (seen.end === 'time')
    return { kind: 'time', told: `it was killed after ${MOST_CPU_MS} ms of processor time and more` };
  if (seen.end === 'died') return { kind: 'died', told: `the process died: ${seen.stderr.split('\n')[0]}` };
  const { result } = seen;
  if (result === null) return null;
  if (result.problems.length > 0) return { kind: 'threw', told: result.problems.join('; ') };
  if (isSlow(result))
    return {
      kind: 'time',
      told: `${Math.round(result.cpu_us / 1000)} ms of processor time for ${result.bytes} bytes`,
    };
  if (result.memory > FREE_MEMORY + MOST_MEMORY_A_BYTE * result.bytes)
    return {
      kind: 'memory',
      told: `${Math.round(result.memory / 1024 / 1024)} MiB for ${result.bytes} bytes`,
    };
  return seen.differences.length > 0 ? { kind: 'differs', told: seen.differences.join('; ') } : null;
}

/** The verdict that several readings of one input agree on: time and memory are those of the best reading. */
export function confirmed(readings: readonly Seen[]): Verdict | null {
  const verdicts = readings.map(verdictOf);
  if (verdicts.length === 0) return null;
  const noisy = verdicts.every((verdict) => verdict !== null) ? verdicts.at(-1)! : null;
  // Memory that was taken once is the process's own from then on, so only its first reading tells.
  const first = verdicts[0]!;
  return noisy ?? (first !== null && first.kind === 'memory' ? first : null);
}

function isSlow({ bytes, cpu_us }: CaseResult): boolean {
  return cpu_us > MOST_CPU_MS * 1000 || (bytes >= LEAST_BYTES && cpu_us > MOST_US_A_BYTE * bytes);
}
