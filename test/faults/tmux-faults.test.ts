import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { until } from '../fixtures/mux/private-server.ts';
import { findProgram } from '../kit/find-program.ts';
import { Bed, type Daemon } from './bed.ts';

const WORKERS = 10;
/** Some poll ticks, in milliseconds: time enough to do what must not be done. */
const SOME_TICKS_MS = 3_000;
const LONG = [120_000, 120_000] as const;

let bed: Bed;
let stopped: number | null = null;

afterEach(async () => {
  if (stopped !== null) process.kill(stopped, 'SIGCONT');
  stopped = null;
  rmSync(join(bed.root, 'hang'), { force: true });
  await bed.dispose();
});

async function withWorkers(daemon: Daemon): Promise<string[]> {
  const slugs = Array.from({ length: WORKERS }, (_, nth) => `task-${nth}`);
  for (const slug of slugs) await bed.fiber(slug);
  await daemon.ready();
  await daemon.post('/quarantine/release', {});
  await until('all workers', () => bed.living().length === WORKERS, 40_000);
  await daemon.stateWhen('all workers listed', (state) => state.running.length === WORKERS);
  return slugs;
}

const starts = () => bed.told().filter((one) => one.event === 'start').length;
const serverPid = async () => Number(await bed.tmux('display-message', '-p', '#{pid}'));

it('[P8] relaunches no worker when the tmux server with ten workers dies, and shows them all as held', async () => {
  bed = new Bed({ pace: LONG });
  const daemon = bed.daemon();
  const slugs = await withWorkers(daemon);
  process.kill(await serverPid(), 'SIGKILL');
  const state = await daemon.stateWhen(
    'all fibers held',
    (now) => now.running.length === 0 && now.pending_launch.length === WORKERS,
  );
  expect(state.pending_launch.map((one) => [one.fiber_id, one.reason]).sort()).toEqual(
    slugs.map((slug) => [slug, 'server_lost']),
  );
  expect(state.blocked).toEqual([]);
  await delay(SOME_TICKS_MS);
  expect(starts()).toBe(WORKERS);
  const after = await daemon.state();
  expect(after.pending_launch.length).toBe(WORKERS);
  // What the start of the daemon holds is released; what was lost waits for a person's word on it.
  expect((await daemon.post('/quarantine/release', {})).json).toMatchObject({ pending: 0 });
  await daemon.post('/incidents/resume', {});
  await until('all workers again', () => bed.living().length === WORKERS, 40_000);
  expect(starts()).toBe(2 * WORKERS);
  expect(bed.told().filter((one) => one.event === 'overlap')).toEqual([]);
});

it('[P4] kills and launches nothing while the tmux server does not answer', async () => {
  bed = new Bed({ pace: LONG });
  const daemon = bed.daemon();
  await withWorkers(daemon);
  const server = await serverPid();
  await bed.fiber('late');
  await until('the eleventh worker', () => bed.living().length === WORKERS + 1, 20_000);
  stopped = server;
  process.kill(server, 'SIGSTOP');
  const state = await daemon.stateWhen(
    'an unknown multiplexer',
    (now) => now.poll_health.mux.state === 'unknown',
    30_000,
  );
  expect(state.running.length).toBe(WORKERS + 1);
  await bed.fiber('later');
  await delay(SOME_TICKS_MS);
  expect(starts()).toBe(WORKERS + 1);
  expect(bed.living().length).toBe(WORKERS + 1);
  expect((await daemon.state()).running.length).toBe(WORKERS + 1);
  process.kill(server, 'SIGCONT');
  stopped = null;
  await until('the worker that had to wait', () => bed.living().length === WORKERS + 2, 40_000);
  expect(bed.told().filter((one) => one.event === 'end' || one.event === 'overlap')).toEqual([]);
});

it('[P4] adopts late and launches nothing while the tmux program hangs', async () => {
  bed = new Bed({ pace: LONG });
  const real = findProgram('tmux', process.env.PATH ?? '') ?? '/usr/bin/tmux';
  const wrapper = join(bed.root, 'home', 'tmux');
  const hang = join(bed.root, 'hang');
  writeFileSync(wrapper, `#!/bin/sh\n[ -e '${hang}' ] && exec sleep 600\nexec '${real}' "$@"\n`);
  chmodSync(wrapper, 0o755);
  const env = { PATH: `${join(bed.root, 'home')}:${bed.env.PATH}` };
  const first = bed.daemon(env);
  await withWorkers(first);
  await first.kill('SIGKILL');
  writeFileSync(hang, '');
  await bed.fiber('late');
  const second = await bed.daemon(env).ready();
  await second.post('/quarantine/release', {});
  const state = await second.stateWhen(
    'an unknown multiplexer',
    (now) => now.poll_health.mux.state === 'unknown' && now.poll_health.ticks > 0,
    30_000,
  );
  expect(state.blocked).toEqual([]);
  const asked = await second.post<{ dispatched: boolean }>('/dispatch', { fiber_id: 'late' });
  expect(asked.status).not.toBe(200);
  await delay(SOME_TICKS_MS);
  expect(starts()).toBe(WORKERS);
  expect(bed.living().length).toBe(WORKERS);
  rmSync(hang);
  await second.stateWhen(
    'the workers adopted',
    (now) => now.running.filter((run) => run.fiber_id !== 'late').length === WORKERS,
    40_000,
  );
  expect(bed.told().filter((one) => one.event === 'end' || one.event === 'overlap')).toEqual([]);
});
