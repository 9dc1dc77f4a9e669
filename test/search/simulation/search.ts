import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { type Plan, planOf } from './plan.ts';
import { SimulatedDisks } from './simulated-disks.ts';
import { Simulation } from './simulation.ts';

export const name = 'simulation';

/** A search that has found this many ends; the rest would most likely be the same. */
const MOST_FINDINGS = 5;
/** Runs that one finding may cost to be made shorter. */
const MOST_SHRINKS = 200;

/**
 * Simulated hosts, stores and disks with faults, one world after the other. A case is a seed, followed by `/` and the
 * numbers of the steps that are kept where the others are not needed to show a violation.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const { seed, until_ms, signal, only_case, log } = options;
  const disks = new SimulatedDisks();
  const uninstall = disks.install();
  const findings: Finding[] = [];
  let cases = 0;
  try {
    if (only_case !== undefined) {
      const [own, kept] = readCase(only_case);
      const violation = await violationOf(own, kept, disks);
      if (violation !== null)
        findings.push({ title: violation, replay: replayCommand(name, seed, only_case) });
      return { cases: 1, findings };
    }
    while (Date.now() < until_ms && !signal.aborted && findings.length < MOST_FINDINGS) {
      const own = `${seed}.${cases}`;
      cases += 1;
      const violation = await violationOf(own, null, disks);
      if (violation === null) continue;
      log(`${own}: ${violation}`);
      const shrunk = await shrink(own, disks, signal);
      findings.push({ title: shrunk.violation ?? violation, replay: replayCommand(name, seed, shrunk.case) });
    }
    return { cases, findings };
  } finally {
    uninstall();
  }
}

/** What must not happen and did; null when nothing did. */
async function violationOf(
  seed: string,
  kept: readonly number[] | null,
  disks: SimulatedDisks,
): Promise<string | null> {
  const plan = planOf(seed);
  const own: Plan = kept === null ? plan : { ...plan, steps: kept.flatMap((step) => plan.steps[step] ?? []) };
  try {
    await new Simulation(own, seed, disks).run(own);
    return null;
  } catch (error) {
    return error instanceof Error
      ? error.name === 'Error'
        ? error.message
        : String(error.stack)
      : String(error);
  }
}

/** Leaves out steps for as long as there is a violation without them. */
async function shrink(
  seed: string,
  disks: SimulatedDisks,
  signal: AbortSignal,
): Promise<{ case: string; violation: string | null }> {
  let kept = planOf(seed).steps.map((_, step) => step);
  let violation: string | null = null;
  let runs = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length && runs < MOST_SHRINKS && !signal.aborted; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)];
      runs += 1;
      const found = await violationOf(seed, fewer, disks);
      if (found === null) from += size;
      else [kept, violation] = [fewer, found];
    }
  }
  return { case: violation === null ? seed : `${seed}/${kept.join(',')}`, violation };
}

function readCase(text: string): [seed: string, kept: number[] | null] {
  const [seed = '', kept] = text.split('/');
  return [
    seed,
    kept === undefined
      ? null
      : kept
          .split(',')
          .filter((one) => one !== '')
          .map(Number),
  ];
}
