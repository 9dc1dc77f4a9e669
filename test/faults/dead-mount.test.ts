import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';
import { type HeldDisk, mountHeldDisk, noHeldDisk } from './held-disk.ts';

let bed: Bed;
let disk: HeldDisk | null = null;

beforeEach(async ({ skip }) => {
  if (noHeldDisk !== null) skip(noHeldDisk);
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  disk = await mountHeldDisk(join(bed.root, 'net'));
});

afterEach(async () => {
  await disk?.remove();
  disk = null;
  await bed?.dispose();
});

const onDisk = (name: string) => join(bed.root, 'net', name);
const startsOf = (uid: string) => bed.told().filter((one) => one.event === 'start' && one.uid === uid).length;

/** Documents, by name, of `count` fibers. */
async function fibers(names: readonly string[], options: { project_dir?: (name: string) => string } = {}) {
  const made = new Map<string, string>();
  for (const name of names) {
    const project_dir = options.project_dir?.(name);
    made.set(name, await bed.fiber(name, project_dir === undefined ? {} : { project_dir }));
  }
  return made;
}

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, nth) => `${prefix}${nth}`);

/** A daemon that starts what is due, as after a person allowed it. */
async function released(): Promise<Daemon> {
  const daemon = await bed.daemon().ready();
  expect((await daemon.post('/quarantine/release', {})).status).toBe(200);
  return daemon;
}

async function componentsUnharmed(daemon: Daemon): Promise<void> {
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.every((one) => one.state === 'running' && one.restarts === 0)).toBe(true);
}

it('[DSP-4] [DSP-5] starts every fiber on a healthy disk beside twelve on a dead one, and those when it is back', async () => {
  // One of them is reached through a link on a disk that answers.
  symlinkSync(onDisk('linked'), join(bed.root, 'link'));
  const dead = await fibers(named('dead', 11), { project_dir: onDisk });
  for (const [name, uid] of await fibers(['dead-link'], { project_dir: () => join(bed.root, 'link') }))
    dead.set(name, uid);
  const healthy = await fibers(named('well', 5));
  await disk!.hold();
  const daemon = await released();
  await until('all healthy fibers started', () => [...healthy.values()].every((uid) => startsOf(uid) > 0));
  const state = await daemon.stateWhen(
    'twelve fibers that name their disk',
    ({ blocked }) =>
      blocked.filter((row) => row.reason === 'project_dir_unreachable' && dead.has(row.fiber_id)).length ===
      12,
  );
  expect(state.blocked.map((row) => row.fiber_id).sort()).toEqual([...dead.keys()].sort());
  for (const row of state.blocked) expect(row.message).toContain(`${join(bed.root, 'net')} did not answer`);
  // What is asked of it by name is answered, and names it too.
  const asked = await daemon.post<{ reason: string }>('/dispatch', { fiber_id: 'dead0' });
  expect(asked).toMatchObject({ status: 422, json: { reason: 'project_dir_unreachable' } });
  const captured = await daemon.post<{ reason: string }>('/capture', {
    prompt: 'Anything.',
    project_dir: onDisk('capture'),
  });
  expect(captured.json).toMatchObject({ reason: 'project_dir_unreachable' });
  const one = await bed.fiber('one-more');
  await until('one more healthy fiber started', () => startsOf(one) > 0);
  await componentsUnharmed(daemon);

  await disk!.go();
  await until(
    'the fibers of the disk that is back',
    () => [...dead.values()].every((uid) => startsOf(uid) > 0),
    60_000,
  );
  await daemon.stateWhen('no refusal left', ({ blocked }) => blocked.length === 0);
});

it('[RPL-10] [RPL-11] sends files of healthy disks while thirty reads wait for a dead one', async () => {
  await bed.fiber('near', { armed: false });
  const daemon = await bed.daemon().ready();
  const info = (path: string) =>
    daemon.get<{ error?: string }>(`/file-info?path=${encodeURIComponent(path)}`, 60_000);
  const near = bed.store.read('near').path;
  // It was read a moment ago, so the next reads find a disk that counts as answering.
  expect((await info(onDisk('a.txt'))).status).toBe(200);
  await disk!.hold();
  const stuck = Array.from({ length: 30 }, (_, nth) => info(onDisk(`${nth % 7}.txt`)));
  stuck.push(info(onDisk('a.txt')));
  for (let nth = 0; nth < 20; nth += 1) expect((await info(near)).status).toBe(200);
  for (const { status } of await Promise.all(stuck)) expect(status).toBe(504);
  expect((await info(near)).status).toBe(200);
  expect((await info(onDisk('a.txt'))).status).toBe(504);
  await componentsUnharmed(daemon);
  await disk!.go();
  await until(
    'the file of the disk that is back',
    async () => (await info(onDisk('a.txt'))).status === 200,
    60_000,
  );
});

it('stops at once, and `svc doctor` names the disk, while a disk does not answer', async () => {
  await bed.fiber('dead', { project_dir: onDisk('p') });
  await disk!.hold();
  const daemon = await released();
  await daemon.stateWhen('the refusal', ({ blocked }) => blocked.length === 1);
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor.kind).toBe('exited');
  expect(JSON.stringify(doctor)).toContain(`the disk of ${onDisk('p')} does not answer`);
  const stopped = await bed.svc(['daemon', 'stop', '--timeout', '20', '--json']);
  expect(stopped).toMatchObject({ kind: 'exited', code: 0 });
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
});

it('is named by `svc doctor` where it has the config folder, which no check can read then', async () => {
  bed.env.SVC_CONFIG_DIR = onDisk('config');
  await disk!.hold();
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor).toMatchObject({ kind: 'exited', code: 1 });
  expect(JSON.stringify(doctor)).toContain(`the disk of ${onDisk('config')} does not answer`);
});
