import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { readThreadWork } from '../../src/threads/thread-work.ts';
import { until } from '../kit/until.ts';

const MODULE = new URL('../../src/threads/thread-work.ts', import.meta.url).href;

/** A thread that tells its number and then does this. */
async function startThread(then: string): Promise<{ worker: Worker; thread: number }> {
  const source = `
    import { parentPort } from 'node:worker_threads';
    const { ownThreadId } = await import(${JSON.stringify(MODULE)});
    parentPort.postMessage(ownThreadId());
    ${then}
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  const [thread] = (await once(worker, 'message')) as [number];
  return { worker, thread };
}

it.runIf(process.platform === 'linux')('tells that a thread runs, and that one waits', async () => {
  const loops = await startThread('for (;;);');
  const waits = await startThread('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  try {
    const before = readThreadWork(loops.thread)!;
    await until('a thread that runs', () => readThreadWork(loops.thread)!.ran_ms > before.ran_ms + 50);
    expect(readThreadWork(loops.thread)?.is_ready).toBe(true);
    await until('a thread that waits', () => readThreadWork(waits.thread)?.is_ready === false);
  } finally {
    await Promise.all([loops.worker.terminate(), waits.worker.terminate()]);
  }
  await until('nothing of a thread that has ended', () => readThreadWork(loops.thread) === null);
});

it('tells nothing of a thread that has no number', () => {
  expect(readThreadWork(0)).toBeNull();
});
