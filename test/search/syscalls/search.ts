import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { inLanes, shuffled } from '../seeded-order.ts';
import { daemonTrials } from './daemon-trials.ts';
import type { Trial } from './trial.ts';
import { verbTrials } from './verb-trials.ts';

export const name = 'syscalls';
/** As many runs at once as a small machine has processors. */
const LANES = 2;

/**
 * Makes every system call of every verb fail once, each way that it can fail, and judges what the verb did: effect or
 * error, files old or new, and nothing left that stops the next run. Beside that, calls of a whole daemon fail on the
 * files of one fiber, and the others must have their turn. In an order by the seed, until all are done or the time is up.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const { seed, only_case, signal, log } = options;
  const findings: Finding[] = [];
  let cases = 0;
  let missed = 0;
  const goesOn = () => Date.now() < options.until_ms && !signal.aborted;
  const verbs = await verbTrials(only_case?.split(':')[0] ?? null, LANES, goesOn);
  const wanted = ({ id }: Trial) => only_case === undefined || id === only_case;
  const attempt = async (trial: Trial) => {
    const outcome = await trial.run().catch((error: unknown) => ({
      hit: true,
      problems: [`the case broke off: ${error instanceof Error ? error.message : String(error)}`],
    }));
    if (!outcome.hit) {
      missed += 1;
      return;
    }
    cases += 1;
    for (const problem of outcome.problems) {
      const title = `${trial.id} (${trial.what}): ${problem}`;
      log(title);
      findings.push({ title, replay: replayCommand(name, seed, trial.id) });
    }
  };
  try {
    const ofVerbs = byWeight(verbs.all.filter(wanted), seed);
    const ofDaemons = shuffled(daemonTrials().filter(wanted), seed);
    if (ofVerbs.length + ofDaemons.length === 0) throw new Error(`there is no case ${only_case}`);
    log(`${ofVerbs.length} cases of verbs, ${ofDaemons.length} of a daemon`);
    await Promise.all([inLanes(ofVerbs, LANES - 1, goesOn, attempt), inLanes(ofDaemons, 1, goesOn, attempt)]);
  } finally {
    verbs.dispose();
  }
  if (missed > 0) log(`${missed} faults met no call`);
  return { cases, findings };
}

/** Calls that change something come first: when the time is short, they are what was tried. */
function byWeight(trials: readonly Trial[], seed: string): Trial[] {
  const mixed = shuffled(trials, seed);
  return [...mixed.filter(({ changes }) => changes), ...mixed.filter(({ changes }) => !changes)];
}
