import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

const SOURCE = `
  import { getPriority } from 'node:os';
  import { parentPort } from 'node:worker_threads';
  const { stepBack } = await import(${JSON.stringify(new URL('../../src/threads/thread-priority.ts', import.meta.url).href)});
  stepBack();
  parentPort.postMessage(getPriority(0));
`;

it.runIf(process.platform === 'linux')('lowers the priority of one thread and no other', async () => {
  const before = getPriority(0);
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SOURCE)}`));
  const priority = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  expect(priority).toBe(Math.min(19, before + 1));
  expect(getPriority(0)).toBe(before);
});
