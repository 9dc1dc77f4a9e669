import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { requestScope, runForRequest } from '../../src/base/request-scope.ts';
import type { CallTable } from '../../src/contract/threads/call-table.ts';
import { PollLoop, type PollLoopOptions } from '../../src/dispatch/poll-loop.ts';
import { watchStore } from '../../src/fibers/watch.ts';
import { OpenSockets } from '../../src/http/open-sockets.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import type { Wire } from '../../src/http/socket.ts';
import { ControlClient } from '../../src/mux/control-client.ts';
import { channelPair } from '../../src/threads/channel.ts';
import { createPeer } from '../../src/threads/peer.ts';
import { createPoolComponent } from '../../src/threads/pool.ts';
import { fixtureJobs } from '../fixtures/threads/jobs.ts';
import { ask } from '../http/raw-exchange.ts';
import { getRow, json, postRow, serve } from '../http/served.ts';
import { until } from '../kit/until.ts';

const calls = {
  work: { input: z.object({ ms: z.number() }), output: z.string().nullable(), deadline_ms: 5_000 },
  pass_on: { input: z.object({}), output: z.string().nullable(), deadline_ms: 5_000 },
} satisfies CallTable;

/** A main thread, a component that logs, and a further one that the component asks. */
function threads() {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = createLogger({ component: 'poller', level: 'info', destination });
  const work = async ({ ms }: { ms: number }) => {
    await wait(ms);
    logger.info({ fiber: 'a' }, 'worked');
    return requestScope() ?? null;
  };
  const shared = { clock: systemClock, logger: silentLogger, emits: {}, hears: {} };
  const [main, component] = channelPair(silentLogger);
  const [asks, serves] = channelPair(silentLogger);
  const further = createPeer({ ...shared, channel: asks, other: 'further', serves: {}, handlers: {}, calls });
  const handlers = { work, pass_on: () => further.call('work', { ms: 1 }) };
  const inner = { work: async () => requestScope() ?? null, pass_on: async () => null };
  createPeer({
    ...shared,
    channel: serves,
    other: 'x',
    serves: calls,
    handlers: inner,
    calls: {},
  });
  createPeer({
    ...shared,
    channel: component,
    other: 'main',
    serves: calls,
    handlers,
    calls: {},
  });
  const caller = createPeer({ ...shared, channel: main, other: 'poller', serves: {}, handlers: {}, calls });
  return {
    lines,
    caller,
    end() {
      main.close();
      asks.close();
    },
  };
}

/** What a handler does for a request: it waits, asks the component, and asks it again. */
function askTwice(caller: ReturnType<typeof threads>['caller'], ms: number): Promise<string | null> {
  return wait(ms)
    .then(() => caller.call('work', { ms }))
    .then(() => caller.call('work', { ms: 1 }));
}

describe('the id of a request', () => {
  it('is on every line that another thread logs for it, whatever its handler awaits', async () => {
    const { lines, caller, end } = threads();
    const plain = getRow(
      '/plain',
      async ({ query }) => json(await askTwice(caller, (query as { ms: number }).ms)),
      {
        query: z.object({ ms: z.coerce.number() }),
      },
    );
    const written = postRow(
      '/written',
      async ({ body }) => json(await askTwice(caller, (body as Uint8Array).length)),
      {
        body: 'bytes',
      },
    );
    const shared = getRow('/shared', async () => json(await askTwice(caller, 4)), { shared: true });
    const { server, port } = await serve([plain, written, shared]);
    const answers = await Promise.all([
      ...[20, 1, 10].map((ms) => ask({ port }, 'GET', `/plain?ms=${ms}`)),
      ...['', 'a body', 'x'.repeat(15)].map((body) => ask({ port }, 'POST', '/written', { body })),
      ask({ port }, 'GET', '/shared'),
    ]);
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    expect(answers.map(({ body }) => JSON.parse(body))).toEqual(ids);
    expect(new Set(ids).size).toBe(answers.length);
    expect(lines.map((line) => line.request_id).toSorted()).toEqual([...ids, ...ids].toSorted());
    await server.stop();
    end();
  });

  it('is passed with each call to other threads and is on every line that is logged for it', async () => {
    const { lines, caller, end } = threads();
    const both = [
      runForRequest('r-1', () => caller.call('work', { ms: 300 })),
      runForRequest('r-2', () => caller.call('work', { ms: 5 })),
      caller.call('work', { ms: 100 }),
    ];
    expect(await Promise.all(both)).toEqual(['r-1', 'r-2', null]);
    expect(lines.map((line) => [line.request_id, line.component, line.fiber])).toEqual([
      ['r-2', 'poller', 'a'],
      [undefined, 'poller', 'a'],
      ['r-1', 'poller', 'a'],
    ]);
    end();
  });

  it('is passed on by a component that calls another one', async () => {
    const { caller, end } = threads();
    expect(await runForRequest('r-3', () => caller.call('pass_on', {}))).toBe('r-3');
    expect(requestScope()).toBeUndefined();
    end();
  });

  it('is passed with each job to the pool, also with one that waits behind a job of another request', async () => {
    const pool = createPoolComponent({
      url: new URL('../fixtures/threads/jobs.ts', import.meta.url),
      jobs: fixtureJobs,
      memory_mb: 48,
      clock: systemClock,
      logger: silentLogger,
      thread_deaths: { intensity: 1, window_ms: 60_000 },
      max_threads: 1,
    });
    const life = pool.launch(() => undefined);
    life.begin();
    await life.ready;
    const scope = async () => (await pool.run('scope', {})).value.request_id;
    const jobs = [runForRequest('r-4', scope), scope(), runForRequest('r-5', scope)];
    expect(await Promise.all(jobs)).toEqual(['r-4', null, 'r-5']);
    await life.stop(5_000);
  });

  it('is on the line that is logged when a pool thread dies under its job', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const pool = createPoolComponent({
      url: new URL('../fixtures/threads/jobs.ts', import.meta.url),
      jobs: fixtureJobs,
      memory_mb: 48,
      clock: systemClock,
      logger: createLogger({ component: 'pool', level: 'warn', destination }),
      thread_deaths: { intensity: 3, window_ms: 60_000 },
      max_threads: 1,
    });
    const life = pool.launch(() => undefined);
    life.begin();
    await life.ready;
    const exits = { tokens: ['a'], each_ms: 1, last: 'exit' as const };
    await expect(runForRequest('r-6', () => pool.run('steps', exits))).rejects.toMatchObject({
      code: 'component_unavailable',
    });
    await until('the line', () => lines.some(({ msg }) => String(msg).startsWith('a pool thread died')));
    expect(lines.map(({ request_id }) => request_id)).toEqual(['r-6']);
    await life.stop(5_000);
  });
});

describe('what outlives the request that began it', () => {
  it('belongs to no request: the watch of a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-scope-'));
    const seen: (string | undefined)[] = [];
    const watch = watchStore(() => seen.push(requestScope()));
    runForRequest('over', () => watch.update([folder]));
    await until('an event', () => {
      writeFileSync(join(folder, 'a'), `${seen.length}`);
      return seen.length > 0;
    });
    expect(new Set(seen)).toEqual(new Set([undefined]));
    watch.close();
    rmSync(folder, { recursive: true });
  });

  it('belongs to no request: the pings of open sockets', async () => {
    const sockets = new OpenSockets({ clock: systemClock, logger: silentLogger, ping_ms: 5 });
    const seen: (string | undefined)[] = [];
    const nothing = () => undefined;
    const wire: Wire = {
      ...{ send: nothing, buffered: () => 0, end: nothing, cut: nothing },
      ping: () => seen.push(requestScope()),
    };
    const row = { sends: z.unknown(), takes: null, unsent_bytes: 1, most: 1, open: () => ({}) };
    const listener = runForRequest('over', () => sockets.opened(row, { id: 'over' } as RequestView, wire));
    await until('a ping', () => seen.length > 0);
    expect(seen[0]).toBeUndefined();
    listener.closed();
  });

  it('belongs to no request: the connection to tmux', async () => {
    const seen: (string | undefined)[] = [];
    const client = new ControlClient({
      alone: (attempt) => attempt(),
      prepare: async () => {
        seen.push(requestScope());
        return 'not_now';
      },
      spawn: () => {
        throw new Error('nothing to attach to');
      },
      ...{ clock: systemClock, logger: silentLogger, deadline_ms: 1_000 },
      backoff: { first_ms: 1, most_ms: 1 } as never,
      onChange: () => undefined,
    });
    await runForRequest('over', () => client.connect());
    expect(seen).toEqual([undefined]);
    await client.stop();
  });

  it('belongs to no request: the tick of the poller, and the look at what moved', async () => {
    const seen: unknown[] = [];
    const nothing = async () => undefined;
    const note = (what: string) => async () => seen.push([what, requestScope()]);
    const loop = new PollLoop({
      world: {
        ...{ clock: systemClock, logger: silentLogger, settings: { data_dir: tmpdir() } },
        disks: { isSilent: () => false },
      },
      roots: () => [],
      lookAtFiles: nothing,
      leases: { keep: nothing },
      memory: {
        runs: { all: () => [] },
        ...{ brake: { pulled: null, look: () => null }, data_dir: { fault: null, look: () => null } },
        quarantine: { writeAgain: () => undefined, named: new Map() },
        unconcluded: new Map(),
      },
      dispatcher: {
        ...{ reconcile: nothing, watchSurfaces: nothing, watchActivity: nothing },
        rounds: { startDue: note('tick'), startMoved: note('moved') },
      },
      rows: { lookedAtWorkers: () => undefined, refreshAll: () => undefined, refreshStale: () => undefined },
    } as unknown as PollLoopOptions);
    runForRequest('over', () => {
      loop.takeUpStores();
      loop.followMoved('/s/a.md');
    });
    await until('both', () => seen.length === 2);
    expect(seen).toContainEqual(['tick', undefined]);
    expect(seen).toContainEqual(['moved', undefined]);
    await loop.stop();
  });
});
