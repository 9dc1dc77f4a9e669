import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { State } from '../../src/contract/http/state.ts';
import { Bed, type Daemon } from './bed.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

let bed: Bed | null = null;
let disks: SmallDisk[] = [];

afterEach(async () => {
  for (const disk of disks) disk.mend();
  const mounted = disks;
  disks = [];
  // The folders that they are mounted on go with the bed.
  const made = bed;
  bed = null;
  await made?.end();
  for (const disk of mounted) await disk.remove();
  await made?.dispose();
});

const CUT_OFF = 'cut-off';
type Reply = { status: number; json: Record<string, unknown>; text: string };

/** Asks whatever the answer is made of. */
async function ask(daemon: Daemon, method: string, path: string, body: unknown): Promise<Reply> {
  const response = await fetch(`http://${await daemon.address()}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  const code = response.headers.get('svc-error');
  return { status: response.status, json: code === null ? json : { error: code, message: text }, text };
}

/** A bed whose data and configuration folders lie on disks of their own; its store does not. */
async function arrange(): Promise<Bed | null> {
  const made = new Bed({ pace: [600_000, 600_000] });
  bed = made;
  const agents = readFileSync(join(made.root, 'config', 'agents.json'));
  for (const name of ['data', 'config']) {
    const disk = smallDisk({ mib: 4, path: join(made.root, name) });
    if (disk === null) return null;
    disks.push(disk);
  }
  writeFileSync(join(made.root, 'config', 'agents.json'), agents, { mode: 0o600 });
  for (const slug of ['runs', 'asked']) await made.fiber(slug, { armed: slug === 'runs' });
  for (const slug of ['paused', 'accepted', 'reopened', CUT_OFF]) await made.fiber(slug, { armed: false });
  mkdirSync(join(made.root, 'data', 'state'), { mode: 0o700 });
  writeFileSync(join(made.root, 'data', 'state', 'incidents.json'), JSON.stringify(incident(made)));
  return made;
}

function incident(made: Bed) {
  const fiber = {
    ...{ fiber_id: CUT_OFF, uid: '01K00000000000000000000000', store: made.store.root, run_id: 'r' },
    ...{ mux_session: 'm', session_uuid: null, lost_at: 1, refused: null },
  };
  return {
    version: 1,
    incidents: [{ id: 'i1', cause: 'server_lost', at: 1, group: 'g', fibers: [fiber] }],
  };
}

const document = (id: string) => bed!.store.read(id);

/** Every verb of an operator, whether it took effect, and what is left of that after a restart. */
const VERBS: {
  name: string;
  call: [method: string, path: string, body: object];
  took: (state: State) => boolean;
  lasts: (state: State) => boolean;
}[] = [
  {
    name: 'dispatch',
    call: ['POST', '/dispatch', { fiber_id: 'asked' }],
    took: (state) => state.running.some((run) => run.fiber_id === 'asked'),
    lasts: (state) => state.running.some((run) => run.fiber_id === 'asked'),
  },
  {
    name: 'capture',
    call: ['POST', '/capture', { prompt: 'Look.', project_dir: '/tmp' }],
    took: (state) => state.captures.length > 0,
    lasts: (state) => state.captures.length > 0,
  },
  {
    name: 'release',
    call: ['POST', '/quarantine/release', {}],
    took: (state) => !state.boot_quarantine.active,
    // A restart is no authority to launch: whatever was released, the next daemon holds.
    lasts: () => true,
  },
  {
    name: 'stop-all',
    call: ['POST', '/brake', { note: 'the disk fails' }],
    took: (state) => state.brake.on,
    lasts: (state) => state.brake.on,
  },
  {
    name: 'kill',
    call: ['POST', '/kill', { fiber_id: 'runs' }],
    took: (state) => state.running.every((run) => run.fiber_id !== 'runs'),
    // What the start of a daemon holds is released; what a person killed is not.
    lasts: (state) =>
      state.pending_launch.some(({ fiber_id, reason }) => fiber_id === 'runs' && reason === 'killed'),
  },
  {
    name: 'resume-all',
    call: ['POST', '/brake/release', {}],
    took: (state) => !state.brake.on,
    lasts: (state) => !state.brake.on,
  },
  {
    name: 'incident dismiss',
    call: ['POST', '/incidents/dismiss', {}],
    took: (state) => state.incidents.length === 0,
    lasts: (state) => state.incidents.length === 0,
  },
  ...(
    [
      ['install', 'paused', { action: 'install' }, () => document('paused').status === 'active'],
      ['pause', 'paused', { action: 'pause' }, () => document('paused').status === 'open'],
      [
        'accept',
        'accepted',
        { action: 'accept', outcome: 'good' },
        () => document('accepted').tempered === true,
      ],
      ['close', 'reopened', { action: 'close' }, () => document('reopened').status === 'closed'],
      ['reopen', 'reopened', { action: 'reopen' }, () => document('reopened').status !== 'closed'],
    ] as const
  ).map(([name, fiber, request, took]) => ({
    name,
    call: (name === 'close' || name === 'reopen'
      ? ['POST', '/transition', { ...request, fiber_id: fiber }]
      : ['POST', '/lifecycle', { ...request, fiber }]) as [string, string, object],
    took,
    lasts: took,
  })),
  ...(
    [
      ['config write', 'POST', '/projects', { projects: ['/srv/dev'] }],
      ['config file', 'POST', '/config/projects', { text: '{"version": 1, "projects": ["/srv/dev"]}' }],
    ] as const
  ).map(([name, method, path, body]) => ({
    name,
    call: [method, path, body] as [string, string, object],
    took: () => existsSync(join(bed!.root, 'config', 'projects.json')),
    lasts: () => existsSync(join(bed!.root, 'config', 'projects.json')),
  })),
];

/** A later verb of the list takes these back. */
const UNDONE = ['stop-all', 'install', 'close'];

const MEND = /free space there|remount it writable/;

describe.each([
  ['full', async (disk: SmallDisk) => disk.fill()],
  ['read-only', (disk: SmallDisk) => disk.makeReadOnly()],
] as const)('with %s data and configuration folders', (_what, damage) => {
  it('every operator verb reports what took effect, until when, and the fix', async ({ skip }) => {
    const made = await arrange();
    if (made === null) return skip('this user may not mount a small file system');
    let daemon = await made.daemon().ready();
    await daemon.post('/dispatch', { fiber_id: 'runs' });
    await daemon.stateWhen('a worker', (state) => state.running.length === 1);
    for (const disk of disks) await damage(disk);

    const told: Record<string, { spoken: boolean; took: boolean }> = {};
    for (const { name, call, took } of VERBS) {
      const reply = await ask(daemon, ...call);
      const after = await daemon.state();
      const fault = reply.json.fault as string | undefined;
      const message = String(reply.json.message ?? reply.text);
      expect(reply.json.error, `${name}: ${reply.text}`).not.toBe('internal');
      expect(message, name).not.toContain('The daemon failed');
      expect(took(after), `${name} answered ${reply.status}: ${reply.text}`).toBe(reply.status === 200);
      if (reply.status !== 200) {
        expect(message, name).toMatch(MEND);
        expect(reply.json.error ?? reply.json.reason, name).toBe('storage_unavailable');
      }
      if (fault !== undefined) expect(fault, name).toMatch(MEND);
      told[name] = { spoken: reply.status !== 200 || fault !== undefined, took: reply.status === 200 };
    }
    expect(told).toMatchObject({
      'stop-all': { spoken: true, took: true },
      kill: { spoken: true, took: true },
      accept: { took: true },
      'config write': { spoken: true, took: false },
    });
    await daemon.kill('SIGKILL');
    for (const disk of disks) disk.mend();
    daemon = await made.daemon().ready();
    for (const { name, lasts } of VERBS.filter((one) => !UNDONE.includes(one.name))) {
      const { spoken, took } = told[name]!;
      if (took && !spoken) await daemon.stateWhen(`what ${name} did`, lasts);
      if (took && spoken) expect(lasts(await daemon.state()), name).toBe(false);
    }
  });

  it('the brake is on until the daemon ends, and is saved once the disk works again', async ({ skip }) => {
    const made = await arrange();
    if (made === null) return skip('this user may not mount a small file system');
    let daemon = await made.daemon().ready();
    for (const disk of disks) await damage(disk);
    const stopped = await made.svc(['stop-all', '--note', 'looking']);
    expect(stopped).toMatchObject({ code: 1 });
    expect(stopped.kind === 'exited' && stopped.stdout).toContain('Stopped: nothing new is started.');
    expect(stopped.kind === 'exited' && stopped.stderr).toMatch(/on until the daemon ends, and off once/);
    await daemon.kill('SIGKILL');
    for (const disk of disks) disk.mend();
    daemon = await made.daemon().ready();
    expect((await daemon.state()).brake.on).toBe(false);

    for (const disk of disks) await damage(disk);
    expect((await daemon.post<{ fault?: string }>('/brake', {})).json.fault).toMatch(MEND);
    for (const disk of disks) disk.mend();
    await daemon.stateWhen('a brake that lasts', (state) => state.brake.fault === undefined);
    await daemon.kill('SIGKILL');
    daemon = await made.daemon().ready();
    expect((await daemon.state()).brake.on).toBe(true);
    for (const disk of disks) await damage(disk);
    const kept = await daemon.post<{ error: string; message: string }>('/brake/release', {});
    const full = kept.status === 200;
    // A file can be removed from a full disk.
    if (!full) expect(kept.json).toMatchObject({ error: 'storage_unavailable' });
    expect((await daemon.state()).brake.on).toBe(!full);
  });

  it('svc stop-all without a daemon reports that the brake is not on', async ({ skip }) => {
    const made = await arrange();
    if (made === null) return skip('this user may not mount a small file system');
    for (const disk of disks) await damage(disk);
    const stopped = await made.svc(['stop-all']);
    expect(stopped).toMatchObject({ code: 1, stdout: '' });
    expect(stopped.kind === 'exited' && stopped.stderr).toMatch(MEND);
    for (const disk of disks) disk.mend();
    expect(existsSync(join(made.root, 'data', 'state', 'brake.json'))).toBe(false);
  });
});

it('the brake works without a daemon: the next one finds it on, and a running one reads a new brake file', async () => {
  bed = new Bed({ pace: [600_000, 600_000] });
  const stopped = await bed.svc(['stop-all', '--note', 'nobody home']);
  expect(stopped).toMatchObject({ code: 0 });
  expect(stopped.kind === 'exited' && stopped.stdout).toContain('No daemon runs');
  const daemon = await bed.daemon().ready();
  expect((await daemon.state()).brake).toMatchObject({ on: true, note: 'nobody home' });
  expect(await bed.svc(['resume-all'])).toMatchObject({ code: 0 });
  expect((await daemon.state()).brake.on).toBe(false);
  writeFileSync(join(bed.root, 'data', 'state', 'brake.json'), '{"version":1,"since":1,"note":"by hand"}');
  await daemon.stateWhen('the brake', (state) => state.brake.note === 'by hand');
  await bed.fiber('late', { armed: false });
  await daemon.stateWhen('the listing', (state) => state.poll_health.stores[0]?.fibers === 1);
  expect((await daemon.post('/dispatch', { fiber_id: 'late' })).json).toMatchObject({
    reason: 'stopped_all',
  });
  await daemon.kill('SIGTERM');
  const released = await bed.svc(['resume-all', '--json']);
  expect(released.kind === 'exited' && JSON.parse(released.stdout)).toMatchObject({
    stopped: false,
    changed: true,
  });
});
