import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { watchStore } from '../../src/fibers/watch.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

let temp: TempStore;
afterEach(() => temp.remove());

it('hints at the folder in which a document was written, and is silent after close', async () => {
  temp = createTempStore();
  const folders = ['a', 'b'].map((name) => join(temp.root, '.fibers', name));
  for (const folder of folders) mkdirSync(folder);
  const hints = new Set<string>();
  const watch = watchStore((folder) => hints.add(folder));
  expect(await watch.update(folders)).toBe(true);
  expect(watch).toMatchObject({ watched: 2, degraded: null, complete: true });
  expect(await watch.update(folders)).toBe(false);
  writeFileSync(join(folders[1]!, 'b.md'), 'x');
  await vi.waitFor(() => expect([...hints]).toEqual([folders[1]]));
  watch.close();
  expect(watch.watched).toBe(0);
  hints.clear();
  const other = watchStore((folder) => hints.add(`other ${folder}`));
  await other.update(folders);
  writeFileSync(join(folders[0]!, 'a.md'), 'x');
  await vi.waitFor(() => expect([...hints]).toEqual([`other ${folders[0]}`]));
  other.close();
});

it('watches no more folders than allowed and reports it; skips folders that vanished', async () => {
  temp = createTempStore();
  const folders = ['a', 'b', 'c'].map((name) => join(temp.root, '.fibers', name));
  for (const folder of folders) mkdirSync(folder);
  const watch = watchStore(() => {}, { maxWatches: 2 });
  await watch.update(folders);
  expect(watch).toMatchObject({ watched: 2, complete: false });
  expect(watch.degraded).toBe('only 2 folders are watched, of 3');
  rmSync(folders[1]!, { recursive: true });
  await watch.update([folders[1]!, folders[2]!, join(temp.root, 'never')].slice(1));
  expect(watch).toMatchObject({ watched: 1, degraded: null, complete: true });
  watch.close();
});
