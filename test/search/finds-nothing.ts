import { expect, it } from 'vitest';
import type { Search } from './contract.ts';
import { runSearch } from './searches.ts';

/** Milliseconds for each search; they run side by side, so that a run of everything stays short. */
const TOTAL_MS = 100_000;
const SEED = 'ci';

/** A test that runs one search for a while, in a process of its own: a search may keep its thread for seconds. */
export function findsNothing(
  search: Search,
  { total_ms = TOTAL_MS, skip = false }: { total_ms?: number; skip?: boolean } = {},
): void {
  it.skipIf(skip)(`finds nothing with ${search.name}`, async () => {
    const report = await runSearch(search, {
      seed: SEED,
      until_ms: Date.now() + total_ms,
      signal: new AbortController().signal,
      log: (line) => process.stdout.write(`${search.name}: ${line}\n`),
    });
    process.stdout.write(`${search.name}: ${report.cases} cases\n`);
    expect(report.findings).toEqual([]);
    expect(report.cases).toBeGreaterThan(0);
  });
}
