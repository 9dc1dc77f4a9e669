import { expect, it } from 'vitest';
import { findSearches, runSearch } from './searches.ts';

/** Milliseconds for all searches together, so that a run of everything stays short. */
const TOTAL_MS = 5 * 60_000;
const SEED = 'ci';

const searches = await findSearches();

it.each(searches)('finds nothing with $name', async (search) => {
  const report = await runSearch(search, {
    seed: SEED,
    until_ms: Date.now() + TOTAL_MS / searches.length,
    signal: new AbortController().signal,
    log: (line) => process.stdout.write(`${search.name}: ${line}\n`),
  });
  process.stdout.write(`${search.name}: ${report.cases} cases\n`);
  expect(report.findings).toEqual([]);
  expect(report.cases).toBeGreaterThan(0);
});
