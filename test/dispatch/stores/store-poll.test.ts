import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../../src/base/clock.ts';
import { CodedError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { StoreDocuments } from '../../../src/dispatch/stores/store-documents.ts';
import { StorePoll, type StoreReader } from '../../../src/dispatch/stores/store-poll.ts';
import { initStore } from '../../../src/fibers/store.ts';
import { StoreIndex } from '../../../src/fibers/store-index.ts';
import { readDocuments, sweepStore } from '../../../src/fibers/sweep.ts';
import { decodeReading, decodeSweep } from '../../../src/fibers/sweep-result.ts';
import type { Disks, Proof } from '../../../src/platform/disks.ts';
import { createPoolComponent } from '../../../src/threads/pool.ts';
import { createSupervisor } from '../../../src/threads/supervisor.ts';
import { slowParsingJobs } from '../../fixtures/fibers/slow-parsing-pool.ts';
import { createTempStore, type TempStore } from '../../fixtures/fibers/temp-store.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';
import { until } from '../../kit/until.ts';

const FIBERS = 1_300;

let temp: TempStore;
let jobs: string[];
/** Numbers of the jobs that fail. */
let stuck: Set<number>;
/** How long after now the jobs read, in milliseconds. */
let ahead: number;
beforeEach(() => {
  temp = createTempStore();
  jobs = [];
  stuck = new Set();
  ahead = 0;
});
afterEach(() => temp.remove());

/** The pool's own jobs, run on this thread. */
const pool: StoreReader = {
  async run(job, input, options) {
    jobs.push(job);
    if (job === 'read_documents' && stuck.delete(jobs.length)) throw new Error('the disk is asleep');
    const { root, most_new } = input as { root: string; most_new: number };
    const bulk = options?.bulk ?? new Uint8Array();
    const read = job === 'sweep_store' ? sweepStore : readDocuments;
    const answer = read(root, bulk, Date.now() + ahead, { most_new });
    // Who sends bytes to another thread has them no longer.
    if (bulk.length > 0) structuredClone(null, { transfer: [bulk.buffer as ArrayBuffer] });
    return { value: {} as never, bulk: answer };
  },
};

const pollOn = (disks: Pick<Disks, 'prove'>) =>
  new StorePoll({
    ...{ root: temp.root, clock: systemClock, logger: silentLogger, pool },
    disks: { ...answeringDisks, ...disks },
  });

describe('StorePoll', () => {
  it('[DSP-1] gives no thread to a store whose disk is silent, says so, and lists it when the disk answers', async () => {
    temp.write('a/a.md', '---\nname: A\n---\n');
    let proof: Proof = 'silent';
    const poll = pollOn({ prove: async () => proof });
    expect(await poll.sweep(10_000)).toBeNull();
    expect(poll.health).toMatchObject({ state: 'cold', error: expect.stringContaining('does not answer') });
    proof = 'answers';
    expect((await poll.sweep(10_000))?.changed).toHaveLength(1);
    expect(poll.health).toMatchObject({ state: 'ok', error: null });
    proof = 'silent';
    expect(await poll.sweep(10_000)).toBeNull();
    expect([poll.health.state, jobs]).toEqual(['stale', ['sweep_store']]);
  });

  it('[DSP-1] shares out the first listing of a large store and reads only what moved after that', async () => {
    for (let index = 0; index < FIBERS; index += 1)
      temp.write(`f${index}/f${index}.md`, `---\nname: Fiber ${index}\n---\n`);
    const poll = pollOn(answeringDisks);

    const first = await poll.sweep(10_000);
    expect(new Set(first?.changed.map((row) => row.id)).size).toBe(FIBERS);
    expect(jobs.filter((job) => job === 'read_documents').length).toBeGreaterThan(1);
    expect(first?.folders).toHaveLength(FIBERS + 1);

    jobs = [];
    temp.write('f7/f7.md', '---\nname: Another name\n---\n');
    const second = await poll.sweep(10_000);
    expect(second?.changed.filter((row) => row.name === 'Another name').map((row) => row.id)).toEqual(['f7']);
    expect(jobs).toEqual(['sweep_store']);
  });

  it('[DSP-1] goes on with a large listing that was cut short, and reads nothing twice', async () => {
    for (let index = 0; index < FIBERS; index += 1)
      temp.write(`f${index}/f${index}.md`, `---\nname: Fiber ${index}\n---\n`);
    const clock = new FakeClock();
    const poll = new StorePoll({
      ...{ root: temp.root, clock, logger: silentLogger, pool, disks: answeringDisks },
    });
    stuck.add(3);
    let begun = 0;
    const read: string[] = [];
    const onListing = {
      begins: () => {
        begun += 1;
      },
      rows: (rows: readonly { id: string }[]) => read.push(...rows.map(({ id }) => id)),
    };
    expect(await poll.sweep(10_000, onListing)).toBeNull();
    expect(poll.health).toMatchObject({ state: 'cold', error: 'the disk is asleep' });
    const early = read.length;
    expect(early).toBeGreaterThan(0);

    clock.advance(1_000);
    const listed = await poll.sweep(10_000, onListing);
    expect(listed?.changed.map((row) => row.id).sort()).toEqual([...read].sort());
    expect([begun, new Set(read).size, read.length]).toEqual([1, FIBERS, FIBERS]);
    expect(read.length).toBeGreaterThan(early);
    expect(listed?.folders).toHaveLength(FIBERS + 1);
  });

  it('[DSP-1] lists a store in the end whose disk is too slow for a job of the usual size', async () => {
    for (let index = 0; index < FIBERS; index += 1)
      temp.write(`f${index}/f${index}.md`, `---\nname: Fiber ${index}\n---\n`);
    const clock = new FakeClock();
    const slow: StoreReader = {
      async run(job, input, options) {
        const done = await pool.run(job, input, options);
        const bytes = new Uint8Array(done.bulk!);
        const { changed } = job === 'sweep_store' ? decodeSweep(bytes) : decodeReading(bytes);
        if (changed.length > 100) throw new Error('the job took too long');
        return done;
      },
    };
    const poll = new StorePoll({
      ...{ root: temp.root, clock, logger: silentLogger, pool: slow, disks: answeringDisks },
    });
    let listed = await poll.sweep(10_000);
    for (let tries = 0; listed === null && tries < 10; tries += 1) {
      clock.advance(300_000);
      listed = await poll.sweep(10_000);
    }
    expect(listed?.changed).toHaveLength(FIBERS);
  });

  it('[DSP-1] keeps what it had when the store is gone, and says so', async () => {
    temp.write('a/a.md', '---\nname: A\n---\n');
    const poll = pollOn(answeringDisks);
    await poll.sweep(10_000);
    rmSync(temp.root, { recursive: true });
    expect(await poll.sweep(10_000)).toBeNull();
    expect(poll.health.state).toBe('stale');
    expect(poll.health.error).toContain(temp.root);
  });

  it('asks a store that failed again after a wait, also when the clock is turned back meanwhile', async () => {
    const clock = new FakeClock();
    let asleep = true;
    const sleepy: StoreReader = {
      async run(job, input, options) {
        const done = await pool.run(job, input, options);
        if (asleep) throw new CodedError('deadline_exceeded', 'the disk is asleep');
        return done;
      },
    };
    const poll = new StorePoll({
      ...{ root: temp.root, clock, logger: silentLogger, pool: sleepy, disks: answeringDisks },
    });
    await poll.sweep(10_000);
    asleep = false;
    expect([await poll.sweep(10_000), poll.isAway]).toEqual([null, false]);
    expect(jobs).toEqual(['sweep_store']);
    clock.advance(1_000);
    clock.jumpTo(clock.now() - 90 * 60_000);
    expect(await poll.sweep(10_000)).not.toBeNull();
    expect(poll.health).toMatchObject({ state: 'ok', error: null });
  });

  it('[DSP-1] asks a store that is away again at once, however often it was away', async () => {
    const clock = new FakeClock();
    const poll = new StorePoll({
      ...{ root: temp.root, clock, logger: silentLogger, pool, disks: answeringDisks },
    });
    rmSync(temp.root, { recursive: true });
    for (const _ of [1, 2, 3, 4]) expect(await poll.sweep(10_000)).toBeNull();
    expect([poll.isAway, await poll.isThere(10_000)]).toEqual([true, false]);
    initStore(temp.root);
    expect(await poll.isThere(10_000)).toBe(true);
    expect(await poll.sweep(10_000)).not.toBeNull();
    expect([poll.isAway, poll.health.state]).toEqual([false, 'ok']);
  });
});

describe('a store in which nothing changes', () => {
  it('[DSP-1] is read once, however often it is listed', async () => {
    for (let index = 0; index < FIBERS; index += 1)
      temp.write(`f${index}/f${index}.md`, '---\nname: F\n---\n');
    ahead = 60_000;
    const poll = pollOn(answeringDisks);
    expect((await poll.sweep(60_000))?.changed).toHaveLength(FIBERS);
    expect(jobs).toContain('read_documents');
    for (const _ of [1, 2, 3])
      expect(await poll.sweep(60_000)).toMatchObject({ unchanged: true, changed: [], unread: [] });
    temp.write('f7/f7.md', '---\nname: Seven\n---\n');
    expect((await poll.sweep(60_000))?.changed).toMatchObject([{ id: 'f7', name: 'Seven' }]);
  });
});

describe('a document whose parse does not come back', () => {
  const parsing = createPoolComponent({
    url: new URL('../../fixtures/fibers/slow-parsing-pool.ts', import.meta.url),
    jobs: slowParsingJobs,
    memory_mb: 64,
    clock: systemClock,
    logger: silentLogger,
    thread_deaths: { intensity: 1, window_ms: 60_000 },
  });
  const supervisor = createSupervisor({
    clock: systemClock,
    logger: silentLogger,
    restart: { intensity: 1, window_ms: 60_000, backoff: { first: 10, most: 100 } },
    heartbeat: { interval_ms: 1_000, timeout_ms: 10_000 },
    stop_timeout_ms: 3_000,
    children: [parsing],
    onEssentialFailed: () => undefined,
  });
  /** As the pool of the daemon, with a note of each job. */
  const noted: StoreReader = {
    async run(job, input, options) {
      jobs.push(job);
      return (await parsing.run(job as 'sweep_store', input as never, options)) as never;
    },
  };
  const HEALTHY = '---\nname: fine\n---\n';
  const NEVER = '---\nname: "never parsed\\x21"\n---\n';
  beforeAll(() => supervisor.start());
  afterAll(() => supervisor.stop());

  it('[DSP-1] is listed with an error that names it, with all others in the same round', async () => {
    for (let index = 0; index < FIBERS; index += 1) temp.write(`f${index}/f${index}.md`, HEALTHY);
    const early = temp.write('a/a.md', NEVER);
    const late = temp.write('z/z.md', NEVER);
    const poll = new StorePoll({
      root: temp.root,
      clock: systemClock,
      logger: silentLogger,
      disks: answeringDisks,
      pool: noted,
    });

    const first = await poll.sweep(60_000);
    expect(first?.changed.filter((row) => row.name === 'fine')).toHaveLength(FIBERS);
    const culprits = first!.changed.filter((row) => row.error !== undefined);
    expect(culprits.map((row) => row.path).sort()).toEqual([early, late]);
    for (const row of culprits) expect(row.error).toContain('parsing it exceeded the time limit');
    expect(poll.health).toMatchObject({ state: 'ok', error: expect.stringContaining('and 1 more') });

    jobs = [];
    const second = await poll.sweep(60_000);
    expect(jobs, 'nothing is parsed again').toEqual(['sweep_store']);
    expect(second).toMatchObject({ unchanged: true, errors: [{}, {}] });

    temp.write('a/a.md', HEALTHY);
    temp.write('f7/f7.md', NEVER);
    const third = await poll.sweep(60_000);
    expect(third?.changed.map((row) => [row.id, row.name, row.error === undefined]).sort()).toEqual([
      ['a', 'fine', true],
      ['f7', 'f7', false],
    ]);
  });

  it('[DSP-1] is parsed again after a while, since it may be the machine that was slow', async () => {
    const clock = new FakeClock(Date.now());
    let ended = true;
    const slow: StoreReader = {
      async run(job, input, options) {
        jobs.push(job);
        const { root, set_aside = [] } = input as { root: string; set_aside?: string[] };
        let step: string | null = null;
        const onStep = (token: string | null) => {
          step ??= token;
        };
        const bulk = sweepStore(root, options!.bulk!, clock.now(), { onStep, set_aside });
        if (ended && step !== null)
          throw new CodedError('deadline_exceeded', 'the step took too long', { details: { step } });
        return { value: {} as never, bulk };
      },
    };
    temp.write('a/a.md', HEALTHY);
    const poll = new StorePoll({
      ...{ root: temp.root, clock, logger: silentLogger, pool: slow, disks: answeringDisks },
    });
    const errorOf = async () => (await poll.sweep(60_000))?.changed.map((row) => row.error !== undefined);
    expect(await errorOf()).toEqual([true]);
    ended = false;
    expect(await errorOf(), 'not at once').toEqual([]);
    clock.advance(61_000);
    expect(await errorOf()).toEqual([false]);
  });

  it('[DSP-1] never reaches the thread of the poller, which keeps the last good row until it is known', async () => {
    const path = temp.write('a/a.md', HEALTHY);
    const index = new StoreIndex();
    const moved: string[] = [];
    const documents = new StoreDocuments({
      index,
      roots: [temp.root],
      store: {},
      isSilent: () => false,
      pool: noted,
      logger: silentLogger,
      onRow: () => {},
      onLateRow: (at) => moved.push(at),
    });
    documents.refresh(path, temp.root);
    const healthy = index.getPath(path)!;
    expect(healthy).toMatchObject({ name: 'fine' });
    expect(jobs, 'what is plain needs no other thread').toEqual([]);

    temp.write('a/a.md', NEVER);
    expect(documents.refresh(path, temp.root)).toBe(false);
    expect(index.getPath(path)).toBe(healthy);
    expect(() => documents.reread(healthy)).toThrow('is being read; try again in a moment');
    const writing = documents.edit(healthy, () => ({ set: { outcome: 'x' } }));
    await expect(writing).rejects.toMatchObject({ code: 'invalid_document' });
    await until('the row', () => index.getPath(path)?.error !== undefined);
    expect(index.getPath(path)?.error).toContain('parsing it exceeded the time limit');
    expect(moved).toEqual([path]);
    expect(jobs).toEqual(['read_documents']);

    temp.write('a/a.md', '---\nname: "b\\x65tter"\n---\nbody\n');
    expect(await documents.open('a')).toMatchObject({ document: { name: 'better' }, body: 'body\n' });
    const edited = await documents.edit(healthy, () => ({ set: { outcome: 'with: colon' } }));
    expect(edited).toMatchObject({ name: 'better', outcome: 'with: colon' });
    expect(jobs).toEqual(['read_documents', 'read_documents']);
  });
});
