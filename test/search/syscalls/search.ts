import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { inLanes, shuffled } from '../seeded-order.ts';
import { type VerbTrial, verbTrials } from './verb-trials.ts';

export const name = 'syscalls';
/** As many runs at once as a small machine has processors. */
const LANES = 2;

/**
 * Makes every system call of every verb fail once, each way that it can fail, and judges what the verb did: effect or
 * error, files old or new, and nothing left that stops the next run. In an order by the seed, until all are done or
 * the time is up.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const findings: Finding[] = [];
  let cases = 0;
  let missed = 0;
  const goesOn = () => Date.now() < options.until_ms && !options.signal.aborted;
  const trials = await verbTrials(options.only_case?.split(':')[0] ?? null, LANES, goesOn);
  try {
    const wanted = trials.all.filter(({ id }) => options.only_case === undefined || id === options.only_case);
    options.log(`${wanted.length} cases`);
    await inLanes(byWeight(wanted, options.seed), LANES, goesOn, async (trial) => {
      const outcome = await trial.run();
      if (!outcome.hit) {
        missed += 1;
        return;
      }
      cases += 1;
      for (const problem of outcome.problems) {
        const title = `${trial.id} (${trial.what}): ${problem}`;
        options.log(title);
        findings.push({ title, replay: replayCommand(name, options.seed, trial.id) });
      }
    });
  } finally {
    trials.dispose();
  }
  if (missed > 0) options.log(`${missed} faults met no call`);
  return { cases, findings };
}

/** Calls that change something come first: when the time is short, they are what was tried. */
function byWeight(trials: readonly VerbTrial[], seed: string): VerbTrial[] {
  const mixed = shuffled(trials, seed);
  return [...mixed.filter(({ changes }) => changes), ...mixed.filter(({ changes }) => !changes)];
}
