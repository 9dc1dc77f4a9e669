import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { THREAD_FLAGS } from '../../src/threads/thread-flags.ts';

describe('the flags of a thread', () => {
  it('keep require from loading ES modules, so that a thread can be ended safely', async () => {
    const entry = new URL('../fixtures/threads/jobs.ts', import.meta.url).pathname;
    const program = `
      const { parentPort } = require('node:worker_threads');
      try { require(${JSON.stringify(entry)}); parentPort.postMessage('loaded'); }
      catch (error) { parentPort.postMessage(error.code); }`;
    const worker = new Worker(program, { eval: true, execArgv: THREAD_FLAGS });
    const answer = await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();
    expect(answer).toBe('ERR_REQUIRE_ESM');
  });
});
