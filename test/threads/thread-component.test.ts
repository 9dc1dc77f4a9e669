import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { CallTable } from '../../src/contract/threads/call-table.ts';
import { faultCalls } from '../../src/threads/fault-injection.ts';
import { MAX_IN_FLIGHT } from '../../src/threads/peer.ts';
import { createSupervisor, type Supervisor } from '../../src/threads/supervisor.ts';
import { createThreadComponent } from '../../src/threads/thread-component.ts';
import { fixtureCalls, fixtureEvents, fixtureHears } from '../fixtures/threads/calls.ts';
import { NO_SESSIONS } from '../kit/no-sessions.ts';
import { blockingFile } from './blocking-file.ts';
import { MEMORY_MB, quickRules, temporarySettings } from './real-components.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Overrides = {
  start_limit_ms?: number;
  essential?: boolean;
  fault_injection?: boolean;
  intensity?: number;
  stop_timeout_ms?: number;
};

/** A supervised thread that runs one of the tiny programs, once it is started. */
function superviseFixture<C extends CallTable = typeof fixtureCalls>(
  program: string,
  overrides: Overrides = {},
  calls: C = fixtureCalls as unknown as C,
) {
  const { intensity = 1, stop_timeout_ms = 3_000, ...rest } = overrides;
  const component = createThreadComponent({
    name: 'fixture',
    url: new URL(`../fixtures/threads/${program}.ts`, import.meta.url),
    calls,
    events: fixtureEvents,
    hears: fixtureHears,
    settings: { log_level: 'silent' },
    memory_mb: MEMORY_MB,
    clock: systemClock,
    logger: silentLogger,
    host: {
      pool: ({ job }, bulk) => ({ job, bulk: bulk?.length ?? null }),
      ...NO_SESSIONS,
    },
    ...rest,
  });
  const failures: string[][] = [];
  const supervisor = createSupervisor({
    ...quickRules(intensity),
    stop_timeout_ms,
    children: [component],
    onEssentialFailed: (...failure) => failures.push(failure),
  });
  cleanups.push(() => supervisor.stop());
  return { component, supervisor, failures };
}

/** A supervised thread that runs one of the tiny programs. */
async function startFixture<C extends CallTable = typeof fixtureCalls>(
  program: string,
  overrides: Overrides = {},
  calls: C = fixtureCalls as unknown as C,
) {
  const fixture = superviseFixture(program, overrides, calls);
  await fixture.supervisor.start();
  return fixture;
}

function become(supervisor: Supervisor, expected: object): Promise<void> {
  return vi.waitFor(() => expect(supervisor.views()[0]).toMatchObject(expected), {
    timeout: 30_000,
    interval: 20,
  });
}

describe('a component in its own thread', () => {
  it('does nothing before it may begin, and ends at once when it is stopped then', async () => {
    const component = createThreadComponent({
      name: 'fixture',
      url: new URL('../fixtures/threads/fails-to-start.ts', import.meta.url),
      calls: fixtureCalls,
      events: fixtureEvents,
      settings: { log_level: 'silent' },
      memory_mb: MEMORY_MB,
      clock: systemClock,
      logger: silentLogger,
      host: { pool: () => null, ...NO_SESSIONS },
    });
    const heard = Promise.withResolvers<void>();
    const life = component.launch(heard.resolve);
    life.ask();
    // Its code is loaded by then, and it would have failed if it had begun.
    await heard.promise;
    await life.stop(10_000);
    expect((await life.ended).message).toBe('The fixture component was stopped');
  });

  it('[RDY-3] answers calls that came before its first start, unless they must be answered at once', async () => {
    const { component, supervisor } = superviseFixture('exits');
    const early = component.call('echo', { text: 'early' });
    const bytes = component.exchange('echo', { text: 'bytes' }, new Uint8Array([1, 2]));
    await expect(component.call('echo', { text: 'now' }, { at_once: true })).rejects.toMatchObject({
      code: 'component_unavailable',
      message: expect.stringMatching(/is not running at the moment; try again shortly, or see: svc doctor$/),
    });
    expect(component.waiting()).toBe(2);
    await supervisor.start();
    await expect(early).resolves.toEqual({ text: 'early' });
    await expect(bytes).resolves.toMatchObject({ bulk: new Uint8Array([2, 1]) });
    expect(component.waiting()).toBe(0);
  });

  it('rejects calls that wait for its first start when that fails, and when their deadline passes', async () => {
    const failing = superviseFixture('fails-to-start', { intensity: 0 });
    const rejected = expect(failing.component.call('echo', { text: 'early' })).rejects.toMatchObject({
      code: 'component_unavailable',
    });
    await failing.supervisor.start();
    await rejected;
    const late = superviseFixture('exits');
    await expect(late.component.call('echo', { text: 'early' }, { deadline_ms: 1 })).rejects.toMatchObject({
      code: 'deadline_exceeded',
      details: { component: 'fixture', call: 'echo' },
    });
    expect(late.component.waiting()).toBe(0);
  });

  it('refuses more calls before its first start than may wait', async () => {
    const { component, supervisor } = superviseFixture('exits');
    const calls = Array.from({ length: MAX_IN_FLIGHT }, () => component.call('echo', { text: 'early' }));
    await expect(component.call('echo', { text: 'one more' })).rejects.toMatchObject({ code: 'queue_full' });
    await supervisor.start();
    await expect(Promise.all(calls)).resolves.toHaveLength(MAX_IN_FLIGHT);
  });

  for (const [program, says] of [
    ['throws', /the fixture threw/],
    ['exits', /exited with status 3/],
    ['fills-memory', /ran out of memory \(limit 48 MB\); raise SVC_WORKER_MEMORY_MB/],
    ['loops', /did not answer a heartbeat/],
    ['speaks-nonsense', /not a packet/],
  ] as const) {
    it(`is restarted when its program ${program}, and is given up when that happens too often`, async () => {
      const { component, supervisor } = await startFixture(program);
      const dying = component.call('go', {});
      await expect(dying).rejects.toMatchObject({
        code: 'component_unavailable',
        details: { component: 'fixture' },
      });
      await become(supervisor, { state: 'running', restarts: 1 });
      expect(supervisor.views()[0]!.last_error).toMatch(says);
      await expect(component.call('echo', { text: 'back' })).resolves.toEqual({ text: 'back' });

      await expect(component.call('go', {})).rejects.toMatchObject({ code: 'component_unavailable' });
      await become(supervisor, { state: 'failed', restarts: 1 });
      await expect(component.call('echo', { text: 'gone' })).rejects.toThrow(
        /fixture component is not running/,
      );
    }, 60_000);
  }

  it('carries bulk bytes both ways, and its notices survive a restart', async () => {
    const { component, supervisor } = await startFixture('exits');
    const heard: string[] = [];
    component.onEvent('echoed', ({ text }) => heard.push(text));
    const bulk = new Uint8Array([1, 2, 3]);
    const reply = await component.exchange('echo', { text: 'one' }, bulk);
    expect(reply).toEqual({ value: { text: 'one' }, bulk: new Uint8Array([3, 2, 1]), parts: [] });
    expect(bulk.byteLength).toBe(0);
    await component.call('go', {}).catch(() => undefined);
    await become(supervisor, { state: 'running', restarts: 1 });
    await component.call('echo', { text: 'two' });
    await vi.waitFor(() => expect(heard).toEqual(['one', 'two']));
  });

  it('gets notices with bulk bytes, which are lost with the life that they were sent to', async () => {
    const { component, supervisor } = await startFixture('exits');
    const heard: string[] = [];
    component.onEvent('echoed', ({ text }) => heard.push(text));
    expect(component.notify('frame', { nth: 1 }, new Uint8Array(3_200))).toBe(true);
    await vi.waitFor(() => expect(heard).toEqual(['1 3200']));
    const dying = component.call('go', {});
    await dying.catch(() => undefined);
    const kept = new Uint8Array(3_200);
    expect(component.notify('frame', { nth: 2 }, kept)).toBe(false);
    expect(kept.byteLength).toBe(3_200);
    await become(supervisor, { state: 'running', restarts: 1 });
    expect(component.notify('frame', { nth: 3 }, kept)).toBe(true);
    await vi.waitFor(() => expect(heard).toEqual(['1 3200', '3 3200']));
  });

  it('reports why it cannot start, retries, and reports an essential one that never starts', async () => {
    const { supervisor, failures } = await startFixture('fails-to-start', { essential: true });
    expect(supervisor.views()[0]).toMatchObject({
      state: 'failed',
      restarts: 1,
      started_at: null,
      last_error: 'the fixture cannot start',
    });
    expect(failures).toEqual([['fixture', 'the fixture cannot start']]);
  });

  it('is ended when it answers nothing and does not become ready within its start limit', async () => {
    const { supervisor, failures } = await startFixture('blocks-at-start', {
      start_limit_ms: 700,
      intensity: 0,
    });
    expect(supervisor.views()[0]).toMatchObject({
      state: 'failed',
      last_error: expect.stringMatching(/did not become ready although it had 700 ms/),
    });
    expect(failures).toEqual([]);
  });

  it('is ended when it does not stop within the stop time limit', async () => {
    const { component, supervisor } = await startFixture('ignores-stop', { stop_timeout_ms: 100 });
    const waiting = component.call('go', {});
    waiting.catch(() => undefined);
    await supervisor.stop();
    await expect(waiting).rejects.toMatchObject({ code: 'component_unavailable' });
    expect(supervisor.views()[0]!.state).toBe('stopped');
  });

  it('serves no fault call unless it was started for a test', async () => {
    const { component } = await startFixture(
      'exits',
      { fault_injection: false },
      { ...fixtureCalls, ...faultCalls },
    );
    await expect(component.call('__fault', { kind: 'exit' })).rejects.toThrow(
      'No handler serves the call __fault',
    );
    await expect(component.call('echo', { text: 'alive' })).resolves.toEqual({ text: 'alive' });
  });

  it('is replaced while its old thread is still stuck in the kernel', async () => {
    const home = temporarySettings();
    cleanups.push(() => home.remove());
    const blocking = blockingFile(home.dir);
    const { component, supervisor } = await startFixture(
      'exits',
      { fault_injection: true },
      { ...fixtureCalls, ...faultCalls },
    );
    cleanups.push(blocking.release);
    await expect(component.call('__fault', { kind: 'stuck', path: blocking.path })).rejects.toMatchObject({
      code: 'component_unavailable',
    });
    await become(supervisor, { state: 'running', restarts: 1 });
    await expect(component.call('echo', { text: 'new' })).resolves.toEqual({ text: 'new' });
  });
});
