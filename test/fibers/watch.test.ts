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
  const watch = watchStore(folders, (folder) => hints.add(folder));
  expect(watch).toMatchObject({ watched: 2, degraded: null });
  writeFileSync(join(folders[1]!, 'b.md'), 'x');
  await vi.waitFor(() => expect([...hints]).toEqual([folders[1]]));
  watch.close();
  expect(watch.watched).toBe(0);
  hints.clear();
  const other = watchStore(folders, (folder) => hints.add(`other ${folder}`));
  writeFileSync(join(folders[0]!, 'a.md'), 'x');
  await vi.waitFor(() => expect([...hints]).toEqual([`other ${folders[0]}`]));
  other.close();
});

it('watches no more folders than allowed and reports it; skips folders that vanished', () => {
  temp = createTempStore();
  const folders = ['a', 'b', 'c'].map((name) => join(temp.root, '.fibers', name));
  for (const folder of folders) mkdirSync(folder);
  const watch = watchStore(folders, () => {}, { maxWatches: 2 });
  expect(watch.watched).toBe(2);
  expect(watch.degraded).toBe('only 2 of 3 folders are watched');
  rmSync(folders[1]!, { recursive: true });
  watch.update([folders[1]!, folders[2]!, join(temp.root, 'never')].slice(1));
  expect(watch).toMatchObject({ watched: 1, degraded: null });
  watch.close();
});
