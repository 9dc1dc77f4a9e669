import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sha256Of } from '../../src/base/digest.ts';
import { NEW_WORKTREE } from '../../src/contract/fiber.ts';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { findProgram } from '../kit/find-program.ts';
import { Bed, type Daemon, HOST } from './bed.ts';
import { type HeldDisk, mountHeldDisk, noHeldDisk } from './held-disk.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let bed: Bed;
let disk: HeldDisk | null = null;

beforeEach(async ({ skip }) => {
  if (noHeldDisk !== null) skip(noHeldDisk);
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  // Each worker closes its fiber.
  writeFileSync(`${bed.witness}.finish`, '');
  disk = await mountHeldDisk(join(bed.root, 'net'));
});

afterEach(async () => {
  await disk?.remove();
  disk = null;
  await bed?.dispose();
});

const onDisk = (name: string) => join(bed.root, 'net', name);
const inBed = (...names: string[]) => join(bed.root, ...names);
const endsOf = (uid: string) => bed.told().filter((one) => one.event === 'end' && one.uid === uid).length;
const startsOf = (uid: string) => bed.told().filter((one) => one.event === 'start' && one.uid === uid).length;

async function released(): Promise<Daemon> {
  const daemon = await bed.daemon().ready();
  expect((await daemon.post('/quarantine/release', {})).status).toBe(200);
  return daemon;
}

/** A healthy fiber is found, started and its end seen, `/state` answers, and no thread had to be restarted. */
async function goesOn(daemon: Daemon, slug: string): Promise<string> {
  const uid = await bed.fiber(slug);
  await until(`${slug} started`, () => startsOf(uid) > 0, 30_000);
  await until(`the last word of ${slug}`, () => endsOf(uid) > 0, 30_000);
  await daemon.stateWhen(
    `the end of ${slug}`,
    ({ running }) => !running.some((run) => run.fiber_id === slug),
    30_000,
  );
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.filter((one) => one.state !== 'running' || one.restarts > 0)).toEqual([]);
  return uid;
}

/** The transcripts of the workers in a folder of the bed, as a link to the silent disk from now on. */
function transcriptsAway(project: string): string {
  const folder = inBed('agent', 'projects', inBed(project).replace(/[^a-zA-Z0-9]/g, '-'));
  const [file = ''] = readdirSync(folder);
  renameSync(folder, inBed(`${project}-transcripts`));
  symlinkSync(onDisk('transcripts'), folder);
  return file.replace('.jsonl', '');
}

it('[DSP-1] [RPL-12] [RPL-23] goes on while transcripts, and the folders of agent programs, are on a disk that does not answer', async () => {
  for (const name of ['away', 'resting']) mkdirSync(inBed(name));
  await disk!.hold();
  mkdirSync(inBed('home', '.pi'));
  symlinkSync(onDisk('claude'), inBed('home', '.claude'));
  symlinkSync(onDisk('codex'), inBed('home', '.codex'));
  symlinkSync(onDisk('pi'), inBed('home', '.pi', 'agent'));
  const daemon = await released();
  const away = await bed.fiber('away', { project_dir: inBed('away') });
  await bed.fiber('resting', { project_dir: inBed('resting'), agent: 'composer' });
  await until('the first worker', () => startsOf(away) > 0, 30_000);
  await until('its last word', () => endsOf(away) > 0, 30_000);
  await daemon.stateWhen('one worker', ({ running }) => running.length === 1);
  await goesOn(daemon, 'near');
  const [near = ''] = readdirSync(inBed('agent', 'projects', inBed('project').replace(/[^a-zA-Z0-9]/g, '-')));
  const [dead, dead_too] = ['away', 'resting'].map(transcriptsAway);

  await goesOn(daemon, 'later');
  const delivered = await daemon.post('/deliver', { fiber_id: 'resting', text: 'Go on.' });
  expect(delivered.status).toBeLessThan(500);
  for (const path of ['transcript', 'transcript/words', 'moment', 'transcript/raw'])
    for (const session of [dead, dead_too]) {
      const at = path === 'moment' ? '&at=1786203000000' : '';
      const { json } = await daemon.get<{ message: string }>(`/${path}?session=${session}${at}`, 30_000);
      expect(json.message, path).toContain(`the disk of ${inBed('agent', 'projects')}`);
    }
  const session = near.replace('.jsonl', '');
  expect(await daemon.get(`/transcript?session=${session}`)).toMatchObject({
    json: { availability: 'available_local' },
  });
  expect(await daemon.get(`/sessions/links?sessions=${dead},${session}`)).toMatchObject({
    status: 200,
    json: { links: [{ url: null }, { availability: 'available_local' }] },
  });
  expect(await daemon.get(`/spend?uid=${away}`)).toMatchObject({
    json: { sessions: [{ unknown: 'unreadable' }] },
  });
  await goesOn(daemon, 'last');
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor.kind).toBe('exited');
});

it('[DSP-1] [DSP-4] goes on while the `.git` of project folders leads to a disk that does not answer, and names it', async () => {
  for (const name of ['link', 'pointer']) mkdirSync(inBed(name));
  symlinkSync(onDisk('git'), inBed('link', '.git'));
  writeFileSync(inBed('pointer', '.git'), `gitdir: ${onDisk('git')}/worktrees/pointer\n`);
  mkdirSync(inBed('link', '.claude'));
  symlinkSync(onDisk('settings.txt'), inBed('link', '.claude', 'settings.json'));
  await disk!.hold();
  const daemon = await released();
  for (const name of ['link', 'pointer'])
    await bed.store.create({
      ...{ name, slug: name, status: 'active', body: 'Work.\n' },
      svc: { kind: 'oneshot', host: HOST, project_dir: inBed(name), agent: 'fast', worktree: NEW_WORKTREE },
    });
  const { blocked } = await daemon.stateWhen('both named', (now) => now.blocked.length === 2);
  for (const { message, fiber_id } of blocked)
    expect(message, fiber_id).toMatch(/git cannot look at .*: the disk of .* does not answer/);
  await goesOn(daemon, 'near');
  for (const name of ['link', 'pointer']) {
    const asked = await daemon.get<{ message: string }>(`/uncommitted?fiber=${name}`, 30_000);
    expect(asked.json.message, name).toContain('does not answer');
    const why = await bed.svc(['why', name], { timeout_ms: 30_000 });
    expect(why).toMatchObject({ kind: 'exited', stdout: expect.stringContaining('does not answer') });
  }
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor.kind).toBe('exited');
  // A worker in a folder of its own is not asked of Git.
  const own = await bed.fiber('own', { project_dir: inBed('link') });
  await until('the worker there', () => startsOf(own) > 0, 30_000);
  await goesOn(daemon, 'last');
});

it('[DSP-1] goes on while folders of its PATH are on a disk that stops to answer, or never did', async () => {
  symlinkSync(onDisk('linked'), inBed('linked-bin'));
  const path = `${onDisk('bin')}:${inBed('linked-bin')}:${bed.env.PATH}`;
  const first = bed.daemon({ PATH: path });
  await first.ready();
  await first.post('/quarantine/release', {});
  await goesOn(first, 'before');
  await disk!.hold();
  await goesOn(first, 'meanwhile');
  expect(await first.kill('SIGTERM')).toEqual({ code: 0, signal: null });

  const second = await bed.daemon({ PATH: path }).ready();
  await second.post('/quarantine/release', {});
  await goesOn(second, 'after');
  const tools = await second.get<{ tools: { name: string; path: string | null }[] }>('/doctor', 30_000);
  expect(tools.json.tools.find(({ name }) => name === 'git')?.path).toBe(findProgram('git'));
  Object.assign(bed.env, { PATH: path });
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor.kind).toBe('exited');
  for (const folder of [onDisk('bin'), inBed('linked-bin')])
    expect(JSON.stringify(doctor)).toContain(`the disk of ${folder} does not answer`);
  await goesOn(second, 'last');
});

it('[DSP-1] [RPL-5] [MSG-2] goes on while operator files, mailboxes, attachments and recordings are links to a disk that does not answer', async () => {
  symlinkSync(onDisk('remotes.txt'), inBed('config', 'remotes.json'));
  symlinkSync(onDisk('projects.txt'), inBed('config', 'projects.json'));
  for (const name of ['messages', 'attachments', 'meetings']) symlinkSync(onDisk(name), inBed('data', name));
  await disk!.hold();
  const daemon = await released();
  const resting = await bed.fiber('resting', { agent: 'composer' });
  await daemon.stateWhen('its worker', ({ running }) => running.some(({ uid }) => uid === resting));
  await daemon.stateWhen(
    'the files named',
    ({ operator_file_errors: told }) =>
      told.filter(({ error }) => error.includes('does not answer')).length === 2,
  );
  await goesOn(daemon, 'near');
  const png = Buffer.from(PNG, 'base64');
  const attachment = { name: 'a.png', mime: 'image/png', data: PNG, sha256: sha256Of(png) };
  const asked: [string, string, unknown][] = [
    ['messages', '/deliver', { fiber_id: 'resting', text: 'Go on.' }],
    ['attachments', '/attachments', { fiber: 'resting', attachments: [attachment] }],
    ['meetings', '/meeting/join', { fiber_id: 'resting', meeting: { mode: 'phone' } }],
  ];
  for (const [name, path, body] of asked) {
    const { json } = await daemon.post<{ message: string }>(path, body);
    expect(json.message, path).toContain(`the disk of ${inBed('data', name)} does not answer`);
  }
  await goesOn(daemon, 'later');
  const doctor = await bed.svc(['doctor', '--json'], { timeout_ms: 60_000 });
  expect(doctor).toMatchObject({ kind: 'exited', code: 1 });
  expect(JSON.stringify(doctor)).toContain(`the disk of ${inBed('config', 'remotes.json')} does not answer`);
  await disk!.go();
  await goesOn(daemon, 'last');
});

it('[DSP-1] waits, and names the file, while host.json is a link to a disk that does not answer', async () => {
  symlinkSync(onDisk('host.txt'), inBed('config', 'host.json'));
  await disk!.hold();
  const daemon = bed.daemon();
  const said = `the disk of ${inBed('config', 'host.json')} does not answer`;
  await until('the name of the file', () => bed.log().includes(said), 30_000);
  expect(daemon.alive).toBe(true);
  await disk!.go();
  // What lies there is no host file, which it can say only after it has read it.
  expect(await daemon.ended).toMatchObject({ code: 1 });
  expect(bed.log()).toContain('host.json is not valid JSON');
});

it('[DSP-1] waits, and names each, while what the daemon keeps is links to a disk that does not answer', async () => {
  const links = ['runs', 'state', 'sessions.jsonl', 'answers'];
  for (const name of links) symlinkSync(onDisk(name), inBed('data', name));
  await disk!.hold();
  const daemon = bed.daemon();
  for (const name of links)
    await until(
      `the name of ${name}`,
      () => bed.log().includes(`the disk of ${inBed('data', name)}`),
      30_000,
    );
  expect(daemon.alive).toBe(true);
  await daemon.kill('SIGKILL');
  const started = await bed.svc(['daemon', 'start', '--timeout', '8'], { timeout_ms: 40_000 });
  expect(started).toMatchObject({ kind: 'exited' });
  const said = JSON.stringify(started);
  const [, pid] = /the daemon \(pid (\d+)\) has not answered for 8 s/.exec(said) ?? [];
  process.kill(Number(pid), 'SIGKILL');
  expect(said).toContain(`the disk of ${inBed('data', 'runs')} does not answer`);
});

it('[DSP-1] does not start, and says why, where its data folder is on a disk that does not answer', async () => {
  await disk!.hold();
  const daemon = bed.daemon({ SVC_DATA_DIR: onDisk('data') });
  expect(await daemon.ended).toMatchObject({ code: 1 });
  expect(bed.log()).toContain(`the disk of ${onDisk('data')} does not answer`);
});
