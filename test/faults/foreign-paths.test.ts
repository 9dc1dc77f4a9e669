import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';
import { type HeldDisk, mountHeldDisk, noHeldDisk } from './held-disk.ts';

let bed: Bed;
let disk: HeldDisk | null = null;

beforeEach(async ({ skip }) => {
  if (noHeldDisk !== null) skip(noHeldDisk);
  bed = new Bed({ stores: ['store', 'other'], env: { SVC_LOG_LEVEL: 'warn' } });
  mkdirSync(join(bed.root, 'away'));

  disk = await mountHeldDisk(join(bed.root, 'net'));
});

afterEach(async () => {
  await disk?.remove();
  disk = null;
  await bed?.dispose();
});

const onDisk = (name: string) => join(bed.root, 'net', name);
const inStore = (path: string) => join(bed.store.root, '.fibers', path);
const startsOf = (uid: string) => bed.told().filter((one) => one.event === 'start' && one.uid === uid).length;

/** Makes a link in the first store. */
function link(path: string, target: string): void {
  mkdirSync(dirname(inStore(path)), { recursive: true });
  symlinkSync(target, inStore(path));
}

type Feed = { fibers: { id: string; error?: string }[] };

async function rowsOf(daemon: Daemon): Promise<Map<string, string | null>> {
  const { json } = await daemon.get<Feed>('/fibers');
  return new Map(json.fibers.map(({ id, error }) => [id, error ?? null]));
}

async function released(): Promise<Daemon> {
  const daemon = await bed.daemon().ready();
  expect((await daemon.post('/quarantine/release', {})).status).toBe(200);
  return daemon;
}

it('[DSP-1] lists, edits and starts the healthy fibers of a store that has links into a disk that does not answer, and names each link', async () => {
  const uids = [await bed.fiber('near'), await bed.fiber('far', { store: bed.stores[1]! })];
  link('file/file.md', onDisk('a.txt'));
  link('chain/chain.md', join(bed.root, 'half-way'));
  symlinkSync(join(bed.root, 'net-link', 'a.txt'), join(bed.root, 'half-way'));
  symlinkSync(onDisk(''), join(bed.root, 'net-link'));
  link('loop/loop.md', 'loop.md');
  link('dangling/dangling.md', join(bed.root, 'nothing'));
  link('folder', onDisk('folder'));
  link('.nest.json', onDisk('journal.txt'));
  await disk!.hold();
  const daemon = await released();
  await until('the healthy fibers started', () => uids.every((uid) => startsOf(uid) > 0), 60_000);
  const rows = await rowsOf(daemon);
  expect(rows.get('file')).toContain(`leads out of its store, to ${onDisk('a.txt')}`);
  expect(rows.get('chain')).toContain('leads out of its store, to ');
  expect(rows.get('loop')).toContain('ELOOP');
  expect(rows.get('dangling')).toContain('does not exist');
  expect(rows.has('folder')).toBe(false);
  const late = await bed.fiber('late');
  await until('a fiber that was added later started', () => startsOf(late) > 0, 60_000);
  expect(
    (await daemon.post('/fiber-edit', { fiber_id: 'file', outcome: 'x' })).status,
  ).toBeGreaterThanOrEqual(400);
  expect((await daemon.get<{ message: string }>('/fibers/file')).json.message).toContain('leads out');
  expect(
    (await daemon.post('/fiber-edit', { fiber_id: 'folder/inner', outcome: 'x' })).status,
  ).toBeGreaterThanOrEqual(400);
  // A folder of the store that a link replaces while the daemon runs.
  await bed.fiber('moved', { armed: false });
  await until('the fiber that is to be moved', async () => (await rowsOf(daemon)).has('moved'));
  renameSync(inStore('moved'), join(bed.root, 'moved'));
  symlinkSync(onDisk('moved'), inStore('moved'));
  await until('the moved fiber gone', async () => !(await rowsOf(daemon)).has('moved'));
  const last = await bed.fiber('last');
  await until('one more fiber started', () => startsOf(last) > 0, 60_000);
  await daemon.stateWhen('both stores listed', ({ poll_health }) =>
    poll_health.stores.every((one) => one.state === 'ok'),
  );
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.filter((one) => one.state !== 'running' || one.restarts > 0)).toEqual([]);
  const checked = await bed.svc(['fiber', 'check'], { timeout_ms: 60_000 });
  expect(checked).toMatchObject({
    kind: 'exited',
    code: 1,
    stdout: expect.stringContaining(onDisk('a.txt')),
  });
  const listed = await bed.svc(['fiber', 'ls'], { timeout_ms: 60_000 });
  expect(listed).toMatchObject({ kind: 'exited', stdout: expect.stringContaining('near') });
});

it('[DSP-1] [DSP-4] keeps the fibers of other places running where a folder of a store, a whole store and project folders are on a disk that stops to answer', async () => {
  const net = await mountHeldDisk(inStore('net'));
  try {
    symlinkSync(onDisk('fibers'), join(bed.root, 'away', '.fibers'));
    bed.env.SVC_STORES += `,${join(bed.root, 'away')}`;
    const other = bed.stores[1]!;
    await bed.fiber('first', { store: other, armed: false });
    const daemon = await released();
    await until('the stores listed', async () => (await rowsOf(daemon)).has('first'));
    await disk!.hold();
    await net.hold();
    await bed.fiber('dead', { store: other, project_dir: onDisk('project') });
    const uids = [await bed.fiber('near'), await bed.fiber('far', { store: other })];
    await until('the healthy fibers started', () => uids.every((uid) => startsOf(uid) > 0), 60_000);
    const { poll_health, blocked } = await daemon.stateWhen(
      'the disks named',
      (now) =>
        now.poll_health.stores[0]?.error?.includes(inStore('net')) === true &&
        now.poll_health.stores[2]?.error?.includes('does not answer') === true &&
        now.blocked.length > 0,
    );
    expect(poll_health.stores.map((one) => one.state)).toEqual([
      'ok',
      'ok',
      expect.stringMatching(/cold|stale/),
    ]);
    expect(blocked).toMatchObject([{ fiber_id: 'dead', reason: 'project_dir_unreachable' }]);
    const [checked, listed] = await Promise.all(
      [
        ['fiber', 'check'],
        ['fiber', 'ls'],
      ].map((verb) => bed.svc(verb, { timeout_ms: 60_000 })),
    );
    expect(checked).toMatchObject({ kind: 'exited', code: 1 });
    for (const path of [join(bed.root, 'away'), inStore('net')])
      expect(checked).toMatchObject({ stdout: expect.stringContaining(path) });
    expect(listed).toMatchObject({ kind: 'exited', stdout: expect.stringContaining('near') });
  } finally {
    await net.remove();
  }
});
