import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Search, SearchOptions, SearchReport } from './contract.ts';

const HERE = new URL('./', import.meta.url);

/** The searches of this folder, by name: each is a folder with a `search.ts` in it. */
export async function findSearches(): Promise<Search[]> {
  const folders = readdirSync(fileURLToPath(HERE), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/search.ts`, HERE)))
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    folders.map(async (name) => (await import(new URL(`${name}/search.ts`, HERE).href)) as Search),
  );
}

/**
 * Runs one search. A search that throws is itself a finding: nothing is known of the cases that it did not reach.
 */
export async function runSearch(search: Search, options: SearchOptions): Promise<SearchReport> {
  try {
    return await search.search(options);
  } catch (error) {
    const title = `the search ${search.name} broke off: ${error instanceof Error ? error.stack : String(error)}`;
    return { cases: 0, findings: [{ title, replay: replayCommand(search.name, options.seed) }] };
  }
}

/** The shell command that runs one search, or one case of it, with a seed. */
export function replayCommand(name: string, seed: string, only_case?: string): string {
  const words = ['--only', name, '--seed', seed, ...(only_case === undefined ? [] : ['--case', only_case])];
  return `npm run search:faults -- ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w./:@=+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
