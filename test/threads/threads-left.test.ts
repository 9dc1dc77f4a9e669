import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { followThreads } from '../../src/threads/threads-left.ts';

it('counts all live threads created since, whatever code created them', async () => {
  const threads = followThreads();
  const waits = new Worker('setInterval(() => {}, 1000)', { eval: true });
  const ends = new Worker('', { eval: true });
  await once(ends, 'exit');
  expect(await threads.wait(50)).toBe(1);
  await waits.terminate();
  expect(await threads.wait(5_000)).toBe(0);
  threads.stop();
  const later = new Worker('', { eval: true });
  expect(threads.count).toBe(0);
  await once(later, 'exit');
});
