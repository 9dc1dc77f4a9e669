import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const live = new Set<string>();
process.once('exit', () => {
  for (const folder of live) remove(folder);
});

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Gives `work` a short-named temporary folder and removes it afterwards, whatever happens. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fdb-'));
  live.add(folder);
  try {
    return await work(folder);
  } finally {
    live.delete(folder);
    remove(folder);
  }
}
