import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
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
