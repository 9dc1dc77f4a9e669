import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Search } from './contract.ts';
import { findSearches, runSearch } from './searches.ts';

const USAGE =
  'npm run search:faults -- [--minutes N] [--only <search>] [--seed S] [--case <case of that search>]';
const DEFAULT_MINUTES = 5;

/** Runs the searches one after another, each with an equal share of the time that is left. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string' },
      case: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes ?? DEFAULT_MINUTES);
  if (!(minutes > 0)) throw new Error(`--minutes takes a number above 0; usage: ${USAGE}`);
  if (values.case !== undefined && values.only === undefined)
    throw new Error(`--case needs --only; usage: ${USAGE}`);
  const chosen = chosenSearches(await findSearches(), values.only);
  const seed = values.seed ?? randomBytes(6).toString('hex');
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());

  const end = Date.now() + minutes * 60_000;
  let cases = 0;
  let failed = 0;
  for (const [index, search] of chosen.entries()) {
    const started = Date.now();
    const log = (line: string) => process.stdout.write(`${search.name}: ${line}\n`);
    log(`seed ${seed}`);
    const report = await runSearch(search, {
      seed,
      until_ms: started + Math.max(0, end - started) / (chosen.length - index),
      signal: abort.signal,
      ...(values.case === undefined ? {} : { only_case: values.case }),
      log,
    });
    for (const { title, replay } of report.findings) log(`FOUND ${title}\n    ${replay}`);
    log(
      `${report.cases} cases, ${report.findings.length} findings, ${((Date.now() - started) / 1000).toFixed(0)} s`,
    );
    cases += report.cases;
    failed += report.findings.length;
    if (abort.signal.aborted) break;
  }
  process.stdout.write(`${Math.max(0, cases - failed)} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 && cases > 0 ? 0 : 1;
}

function chosenSearches(all: Search[], only: string | undefined): Search[] {
  const chosen = only === undefined ? all : all.filter((search) => search.name === only);
  if (chosen.length === 0)
    throw new Error(`there is no search "${only}"; there are ${all.map(({ name }) => name).join(', ')}`);
  return chosen;
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
