import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { type StuckOpen, stuckOpen } from '../kit/stuck-open.ts';
import { Bed, type Daemon } from './bed.ts';

let bed: Bed;
let far: StuckOpen | null = null;

afterEach(async () => {
  far?.release();
  far = null;
  await bed.dispose();
});

const QUICK = { SVC_LISTING_TIMEOUT_MS: '2500', SVC_STOP_TIMEOUT_MS: '1000', SVC_LOG_LEVEL: 'warn' };

async function makeStores(): Promise<void> {
  bed = new Bed({ stores: ['store', 'stuck'], env: QUICK });
  far = stuckOpen(join(bed.root, 'fifo'), [farPath()]);
  Object.assign(bed.env, far.env);
  await bed.fiber('near', { armed: false });
  await bed.fiber('far', { armed: false, store: bed.stores[1]! });
  // A document that seems to be written just now is read by every listing, and by nobody else.
  const tomorrow = Date.now() / 1000 + 24 * 60 * 60;
  utimesSync(farPath(), tomorrow, tomorrow);
}

async function twoStores(): Promise<Daemon> {
  await makeStores();
  const daemon = await bed.daemon().ready();
  await daemon.stateWhen('both stores listed', (state) =>
    state.poll_health.stores.every((store) => store.state === 'ok'),
  );
  return daemon;
}

const farPath = () => join(bed.stores[1]!.root, '.fibers', 'far', 'far.md');

function threadsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

it('[DSP-1] continues with the other store while one does not answer, shows it as stale, and does not accumulate threads', async () => {
  const daemon = await twoStores();
  const before = threadsOf(daemon.pid);
  far?.hold();
  const stale = await daemon.stateWhen(
    'a stale store',
    (state) => state.poll_health.stores[1]?.state === 'stale',
  );
  expect(stale.poll_health.stores[0]?.state).toBe('ok');
  // Its rows stay as they were last known.
  const feed = await daemon.get<{ state: string; fibers: { id: string }[] }>('/fibers');
  expect(feed.json.state).toBe('partial');
  expect(feed.json.fibers.map((row) => row.id).sort()).toEqual(['far', 'near']);
  // Another document of the living store is written, listed and launched meanwhile.
  for (let nth = 0; nth < 5; nth += 1) {
    const began = Date.now();
    const edited = await daemon.post('/fiber-edit', { fiber_id: 'near', outcome: `edit ${nth}` });
    expect(edited.status).toBe(200);
    expect(Date.now() - began).toBeLessThan(3_000);
    await delay(1_000);
  }
  expect(bed.store.read('near').outcome).toBe('edit 4');
  expect((await daemon.post('/dispatch', { fiber_id: 'near' })).status).toBe(200);
  await until('the worker of the living store', () => bed.told().some((one) => one.event === 'end'), 40_000);
  expect(threadsOf(daemon.pid) - before).toBeLessThanOrEqual(6);
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.find((one) => one.name === 'poller')).toMatchObject({ state: 'running', restarts: 0 });

  far?.release();
  appendFileSync(farPath(), '\nOne more line.\n');
  await daemon.stateWhen('the store back', (state) => state.poll_health.stores[1]?.state === 'ok', 40_000);
  expect((await daemon.get<{ fiber: { body: string } }>('/fibers/far')).json.fiber.body).toContain(
    'One more line.',
  );
});

it('[DSP-1] boots although one store has never answered', async () => {
  await makeStores();
  far?.hold();
  const daemon = await bed.daemon().ready();
  const state = await daemon.stateWhen(
    'the living store listed',
    (now) => now.poll_health.stores[0]?.state === 'ok',
  );
  expect(state.poll_health.stores[1]?.state).toBe('cold');
  const feed = await until('a partial feed', async () => {
    const { json } = await daemon.get<{ state: string; fibers: { id: string }[] }>('/fibers');
    return json.state === 'cold' ? null : json;
  });
  expect(feed).toMatchObject({ state: 'partial', fibers: [{ id: 'near' }] });
});

it('stops on request although one of its threads is stuck in the kernel', async () => {
  const daemon = await twoStores();
  far?.hold();
  await daemon.stateWhen('a stale store', (state) => state.poll_health.stores[1]?.state === 'stale');
  const began = Date.now();
  const stopped = await bed.svc(['daemon', 'stop', '--timeout', '20', '--json']);
  expect(stopped).toMatchObject({ kind: 'exited', code: 0 });
  expect(Date.now() - began).toBeLessThan(15_000);
  expect(await daemon.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(bed.log()).toContain('or a disk does not answer');
  expect(readdirSync(join(bed.root, 'data'))).not.toContain('daemon.json');
  // Nothing is left that would keep the next one out.
  far?.release();
  await bed.daemon().ready();
});

it('says of every verb that the disk of the data folder does not answer, where it would wait for ever', async () => {
  bed = new Bed();
  far = stuckOpen(join(bed.root, 'fifo'), [`${join(bed.root, 'data')}/`]);
  Object.assign(bed.env, far.env);
  await bed.daemon().ready();
  far.hold();
  const verbs = [
    ['status'],
    ['ps'],
    ['doctor'],
    ['daemon', 'start'],
    ['fiber', 'edit', 'near', '--name', 'x'],
  ];
  for (const ran of await Promise.all(verbs.map((verb) => bed.svc(verb, { timeout_ms: 60_000 }))))
    expect(ran).toMatchObject({
      ...{ kind: 'exited', code: 1 },
      stderr: expect.stringContaining(
        `the disk of ${join(bed.root, 'data')} does not answer; mount it again`,
      ),
    });
});

it('lists a named pipe at the path of a document as unreadable, and never blocks on it', async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  await bed.fiber('near', { armed: false });
  const daemon = await bed.daemon().ready();
  const folder = join(bed.store.root, '.fibers', 'pipe');
  mkdirSync(folder);
  execFileSync('mkfifo', [join(folder, 'pipe.md')]);
  const row = await until('the row of the pipe', async () => {
    const { json } = await daemon.get<{ fibers: { id: string; error?: string }[] }>('/fibers');
    return json.fibers.find((one) => one.id === 'pipe');
  });
  expect(row.error).toContain('not a regular file');
  // A change beside it makes the daemon look again, and somebody asks for it by name.
  appendFileSync(join(folder, 'companion.txt'), 'x');
  const asked = await daemon.get<{ message: string }>('/fibers/pipe');
  expect(asked.status).toBeGreaterThanOrEqual(400);
  expect((await daemon.post('/fiber-edit', { fiber_id: 'near', outcome: 'still here' })).status).toBe(200);
  const shown = await bed.svc(['fiber', 'show', 'pipe'], { timeout_ms: 10_000 });
  expect(shown.kind === 'exited' ? shown.code : shown.kind).not.toBe(0);
  expect(shown.kind).toBe('exited');
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.find((one) => one.name === 'poller')).toMatchObject({ restarts: 0 });
  expect(readFileSync(join(folder, 'companion.txt'), 'utf8')).toBe('x');
});
