import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { StorePoll, type StoreReader } from '../../../src/dispatch/stores/store-poll.ts';
import { readDocuments, sweepStore } from '../../../src/fibers/sweep.ts';
import { createTempStore, type TempStore } from '../../fixtures/fibers/temp-store.ts';

const FIBERS = 1_300;

let temp: TempStore;
let jobs: string[];
beforeEach(() => {
  temp = createTempStore();
  jobs = [];
});
afterEach(() => temp.remove());

/** The pool's own jobs, run on this thread. */
const pool: StoreReader = {
  async run(job, input, options) {
    jobs.push(job);
    const { root, most_new } = input as { root: string; most_new?: number };
    const bulk = options?.bulk ?? new Uint8Array();
    const answer =
      job === 'sweep_store'
        ? sweepStore(root, bulk, Date.now(), most_new === undefined ? {} : { most_new })
        : readDocuments(root, bulk);
    return { value: {} as never, bulk: answer };
  },
};

describe('StorePoll', () => {
  it('[DSP-1] shares out the first listing of a large store and reads only what moved after that', async () => {
    for (let index = 0; index < FIBERS; index += 1)
      temp.write(`f${index}/f${index}.md`, `---\nname: Fiber ${index}\n---\n`);
    const poll = new StorePoll({ root: temp.root, clock: systemClock, logger: silentLogger, pool });

    const first = await poll.sweep(10_000);
    expect(new Set(first?.changed.map((row) => row.id)).size).toBe(FIBERS);
    expect(jobs.filter((job) => job === 'read_documents').length).toBeGreaterThan(1);
    expect(poll.folders()).toHaveLength(FIBERS + 1);

    jobs = [];
    temp.write('f7/f7.md', '---\nname: Another name\n---\n');
    const second = await poll.sweep(10_000);
    expect(second?.changed.filter((row) => row.name === 'Another name').map((row) => row.id)).toEqual(['f7']);
    expect(jobs).toEqual(['sweep_store']);
  });

  it('[DSP-1] keeps what it had when the store is gone, and says so', async () => {
    temp.write('a/a.md', '---\nname: A\n---\n');
    const poll = new StorePoll({ root: temp.root, clock: systemClock, logger: silentLogger, pool });
    await poll.sweep(10_000);
    rmSync(temp.root, { recursive: true });
    expect(await poll.sweep(10_000)).toBeNull();
    expect(poll.health.state).toBe('stale');
    expect(poll.health.error).toContain(temp.root);
  });
});
