import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { ComponentView } from '../../src/contract/component.ts';
import { hostCalls } from '../../src/contract/threads/host.ts';
import { channelPair } from '../../src/threads/channel.ts';
import type { FaultKind } from '../../src/threads/fault-injection.ts';
import { createPeer } from '../../src/threads/peer.ts';
import { createPoolComponent } from '../../src/threads/pool.ts';
import { createPoolCaller, hostHandlers } from '../../src/threads/pool-caller.ts';
import { createSupervisor, type Supervisor } from '../../src/threads/supervisor.ts';
import { fixtureJobs } from '../fixtures/threads/jobs.ts';
import { NO_SESSIONS } from '../kit/no-sessions.ts';
import { blockingFile } from './blocking-file.ts';
import { askEach, MEMORY_MB, quickRules, realComponents, temporarySettings } from './real-components.ts';

const down = { code: 'component_unavailable' };
const settled = { timeout: 15_000, interval: 20 };

let home: ReturnType<typeof temporarySettings>;
let components: ReturnType<typeof realComponents>;
let supervisor: Supervisor;

const view = (name: string): ComponentView => supervisor.views().find((entry) => entry.name === name)!;
const fault = (kind: FaultKind, deadline_ms = 20_000, path?: string): Promise<unknown> =>
  components.pool.run('__fault', { kind, path }, { deadline_ms });

async function startReal(which: 'all' | 'pool', intensity: number): Promise<void> {
  home = temporarySettings();
  components = realComponents(home.settings);
  supervisor = createSupervisor({
    ...quickRules(intensity),
    children: which === 'all' ? Object.values(components) : [components.pool],
    onEssentialFailed: () => undefined,
  });
  await supervisor.start();
}

async function stopReal(): Promise<void> {
  await supervisor.stop();
  home.remove();
}

/** Ways in which a pool thread dies under its job; a loop is ended by the deadline of the job. */
const THREAD_DEATHS = ['throw', 'exit', 'out-of-memory'] as const;

describe('the real pool beside the other components', () => {
  const others = (): ComponentView[] => supervisor.views().filter((entry) => entry.name !== 'pool');
  const askOthers = async (): Promise<void> => {
    const { pool: _pool, ...rest } = askEach(components);
    for (const ask of Object.values(rest)) await expect(ask()).resolves.toBeDefined();
  };

  beforeAll(() => startReal('all', THREAD_DEATHS.length));
  afterAll(stopReal);

  for (const [index, kind] of THREAD_DEATHS.entries()) {
    it(`fails only the job whose thread ends by ${kind} and continues; too many such deaths restart it`, async () => {
      const before = others();
      await expect(fault(kind)).rejects.toMatchObject(down);
      await expect(components.pool.run('ping', {})).resolves.toEqual({ value: {}, bulk: null });
      expect(view('pool')).toMatchObject({ state: 'running', restarts: index });

      const waiting = fault('hang');
      const fatal = fault(kind);
      await expect(waiting).rejects.toMatchObject(down);
      await expect(fatal).rejects.toMatchObject(down);
      await vi.waitFor(
        () => expect(view('pool')).toMatchObject({ state: 'running', restarts: index + 1 }),
        settled,
      );
      expect(view('pool').last_error).toMatch(/threads died too often/);
      await expect(components.pool.run('ping', {})).resolves.toBeDefined();
      await askOthers();
      expect(others()).toEqual(before);
    });
  }

  it('is given up when its threads keep dying, and the others continue', async () => {
    const before = others();
    await expect(fault('exit')).rejects.toMatchObject(down);
    await expect(fault('exit')).rejects.toMatchObject(down);
    await vi.waitFor(() => expect(view('pool').state).toBe('failed'), settled);
    await expect(components.pool.run('ping', {})).rejects.toMatchObject(down);
    await askOthers();
    expect(others()).toEqual(before);
  });
});

describe('the real pool', () => {
  beforeEach(() => startReal('pool', 1));
  afterEach(stopReal);

  it('ends the thread of a job that loops past its deadline, while the other job continues', async () => {
    const other = expect(fault('hang', 1_500)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await expect(fault('loop', 300)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await expect(components.pool.run('ping', {})).resolves.toBeDefined();
    await other;
    expect(view('pool')).toMatchObject({ state: 'running', restarts: 0, last_error: null });
  });

  it('ends the thread of a cancelled job, and drops a queued one, while others continue', async () => {
    const [running, waiting] = [new AbortController(), new AbortController()];
    const take = (kind: FaultKind, { signal }: AbortController) =>
      components.pool.run('__fault', { kind }, { deadline_ms: 20_000, signal });
    const taken = [take('loop', running), take('loop', running), take('hang', waiting)].map((job) =>
      expect(job).rejects.toMatchObject({ code: 'cancelled' }),
    );
    await expect(take('hang', { signal: AbortSignal.abort() } as AbortController)).rejects.toMatchObject({
      code: 'cancelled',
    });
    waiting.abort();
    const queued = components.pool.run('ping', {}, { deadline_ms: 19_000 });
    running.abort();
    await Promise.all(taken);
    await expect(queued).resolves.toBeDefined();
    expect(view('pool')).toMatchObject({ state: 'running', restarts: 0, last_error: null });
  });

  it('is alive while all its threads work within their deadlines, and refuses jobs beyond its queue', async () => {
    const busy = Promise.all(
      [fault('hang', 3_500), fault('hang', 3_500)].map((job) =>
        expect(job).rejects.toMatchObject({ code: 'deadline_exceeded' }),
      ),
    );
    const queued = Array.from({ length: 4 }, () => components.pool.run('ping', {}, { deadline_ms: 19_000 }));
    await expect(components.pool.run('ping', {})).rejects.toMatchObject({ code: 'queue_full' });
    await busy;
    for (const job of queued) await expect(job).resolves.toBeDefined();
    expect(view('pool')).toMatchObject({ state: 'running', restarts: 0 });
  });

  it('runs other jobs while the threads of two jobs are stuck in the kernel', async () => {
    const { path, release } = blockingFile(home.dir);
    try {
      const stuck = Promise.all(
        [fault('stuck', 400, path), fault('stuck', 400, path)].map((job) =>
          expect(job).rejects.toMatchObject({ code: 'deadline_exceeded' }),
        ),
      );
      const queued = components.pool.run('ping', {});
      await stuck;
      await expect(queued).resolves.toBeDefined();
      await expect(components.pool.run('ping', {})).resolves.toBeDefined();
    } finally {
      release();
    }
  });

  it('counts and replaces a thread that dies without a job', async () => {
    await expect(fault('throw-later')).resolves.toEqual({ value: {}, bulk: null });
    await vi.waitFor(async () => {
      await fault('throw-later').catch(() => undefined);
      expect(view('pool').restarts).toBe(1);
    }, settled);
    await vi.waitFor(() => components.pool.run('ping', {}), settled);
    expect(view('pool')).toMatchObject({ state: 'running', restarts: 1 });
    expect(view('pool').last_error).toMatch(/thrown outside of any call/);
  });
});

describe('jobs', () => {
  const pool = createPoolComponent({
    url: new URL('../fixtures/threads/jobs.ts', import.meta.url),
    jobs: fixtureJobs,
    memory_mb: MEMORY_MB,
    clock: systemClock,
    logger: silentLogger,
    thread_deaths: { intensity: 5, window_ms: 60_000 },
  });
  beforeEach(async () => {
    supervisor = createSupervisor({ ...quickRules(1), children: [pool], onEssentialFailed: () => undefined });
  });
  afterEach(() => supervisor.stop());

  it('[RDY-3] wait for the first start of the pool within their deadlines', async () => {
    const early = pool.run('reverse', { tag: 'early' }, { bulk: new Uint8Array([1, 2]) });
    await expect(pool.run('reverse', { tag: 'late' }, { deadline_ms: 1 })).rejects.toMatchObject({
      code: 'deadline_exceeded',
    });
    expect(pool.waiting()).toBe(1);
    await supervisor.start();
    await expect(early).resolves.toMatchObject({ bulk: new Uint8Array([2, 1]) });
  });

  it('transfer bulk bytes in and out, and copy those that are part of a larger buffer', async () => {
    await supervisor.start();
    const whole = new Uint8Array([1, 2, 3]);
    const first = await pool.run('reverse', { tag: 'a' }, { bulk: whole });
    expect(first).toEqual({ value: { tag: 'a', length: 3 }, bulk: new Uint8Array([3, 2, 1]) });
    expect(whole.byteLength).toBe(0);
    const pooled = Buffer.from('pooled bytes');
    const second = await pool.run('reverse', { tag: 'b' }, { bulk: pooled });
    expect(Buffer.from(second.bulk!).toString()).toBe('setyb deloop');
    expect(pooled.toString()).toBe('pooled bytes');
  });

  it('lose their thread when a step takes too long, and name that step', async () => {
    await supervisor.start();
    const many = Array.from({ length: 12 }, (_, nth) => `step ${nth}`);
    await expect(pool.run('steps', { tokens: many, each_ms: 100, last: 'end' })).resolves.toBeDefined();
    await expect(
      pool.run('steps', { tokens: [...many.slice(0, 3), 'ü stuck'], each_ms: 10, last: 'wait' }),
    ).rejects.toMatchObject({ code: 'deadline_exceeded', details: { step: 'ü stuck' } });
    await expect(
      pool.run('steps', { tokens: ['first', 'fatal'], each_ms: 10, last: 'exit' }),
    ).rejects.toMatchObject({ code: 'component_unavailable', details: { step: 'fatal' } });
    await expect(pool.run('ping', {})).resolves.toBeDefined();
  });

  it('pass on their own coded errors and survive an answer that cannot be sent', async () => {
    await supervisor.start();
    await expect(pool.run('refuse', {})).rejects.toMatchObject({
      code: 'locked',
      message: 'held by x',
      details: { by: 'x' },
    });
    await expect(pool.run('unsendable', {})).rejects.toMatchObject({ code: 'internal' });
    await expect(pool.run('reverse', { tag: 3 as never })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(supervisor.views()[0]).toMatchObject({ state: 'running', restarts: 0, last_error: null });
  });

  it('reach the pool from a worker thread through the main thread, bulk bytes included', async () => {
    await supervisor.start();
    const [near, far] = channelPair(silentLogger);
    const shared = { clock: systemClock, logger: silentLogger, emits: {}, hears: {} };
    createPeer({
      ...shared,
      channel: far,
      other: 'worker',
      serves: hostCalls,
      handlers: hostHandlers(pool as never, NO_SESSIONS),
      calls: {},
    });
    const host = createPeer({
      ...shared,
      channel: near,
      other: 'main',
      serves: {},
      handlers: {},
      calls: hostCalls,
    });
    await expect(createPoolCaller(host).run('ping', {})).resolves.toEqual({ value: {}, bulk: null });
    await expect(host.call('pool', { job: 'reverse', input: {}, deadline_ms: 1_000 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    near.close();
    await expect(createPoolCaller(host).run('ping', {})).rejects.toMatchObject(down);
  });

  it('fail at once when the pool cannot load its entry', async () => {
    const broken = createPoolComponent({
      url: new URL('../fixtures/threads/missing.ts', import.meta.url),
      jobs: fixtureJobs,
      memory_mb: MEMORY_MB,
      clock: systemClock,
      logger: silentLogger,
      thread_deaths: { intensity: 5, window_ms: 60_000 },
    });
    const failing = createSupervisor({
      ...quickRules(0),
      children: [broken],
      onEssentialFailed: () => undefined,
    });
    await failing.start();
    expect(failing.views()[0]).toMatchObject({
      state: 'failed',
      last_error: expect.stringMatching(/missing/),
    });
    await expect(broken.run('ping', {})).rejects.toMatchObject(down);
    await failing.stop();
  });
});
