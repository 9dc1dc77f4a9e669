import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentsReply } from '../../src/contract/agent.ts';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { processesMarked, signal } from '../kit/processes.ts';
import { Bed, HOST } from './bed.ts';
import { type HeldDisk, mountHeldDisk, noHeldDisk } from './held-disk.ts';

/** A thread that answers no heartbeat for so long is ended and started anew, in milliseconds. */
const LONGER_THAN_HEARTBEATS_MS = 20_000;

let bed: Bed;
let disk: HeldDisk | null = null;

const served = (name: string) => join(bed.root, 'config', name);
const onDisk = (name: string) => join(bed.root, 'net', name);

beforeEach(async ({ skip }) => {
  if (noHeldDisk !== null) skip(noHeldDisk);
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  writeFileSync(served('remotes.json'), JSON.stringify({ version: 1, remotes: [{ name: 'far', port: 1 }] }));
  disk = await mountHeldDisk(join(bed.root, 'net'), join(bed.root, 'config'));
  bed.env.SVC_CONFIG_DIR = join(bed.root, 'net');
});

afterEach(async () => {
  await disk?.remove();
  disk = null;
  await bed?.dispose();
});

const startsOf = (uid: string) => bed.told().filter((one) => one.event === 'start' && one.uid === uid).length;

it('[DSP-1] [RPL-5] [RPL-19] [WPL-14] goes on with what it knows of the operator files while their disk does not answer', async () => {
  const daemon = await bed.daemon().ready();
  expect((await daemon.post('/quarantine/release', {})).status).toBe(200);
  const before = await bed.fiber('before');
  await until('the first worker', () => startsOf(before) > 0);
  await disk!.hold();
  const held_at = Date.now();

  // What is due starts, with an agent of the file; what is asked for is answered, and says what is missing.
  const meanwhile = await bed.fiber('meanwhile');
  await until('a worker beside the silent disk', () => startsOf(meanwhile) > 0);
  await bed.fiber('asked', { armed: false });
  expect((await daemon.post('/dispatch', { fiber_id: 'asked', agent: 'fast' })).status).toBe(200);
  const agents = await daemon.get<AgentsReply>('/agents');
  expect(agents).toMatchObject({ status: 200, json: { default: 'fast' } });
  const state = await daemon.stateWhen('files whose disk is silent', ({ operator_file_errors }) =>
    operator_file_errors.some(({ file, error }) => file === 'agents' && error.includes('does not answer')),
  );
  for (const { path, error } of state.operator_file_errors)
    expect(error).toContain(
      `the disk of ${path} does not answer; try again when it is back. The daemon goes on`,
    );
  expect(state.fleet?.remotes.map(({ name }) => name)).toEqual(['far']);
  const written = await daemon.post<{ error: string; message: string }>('/config/remotes', { text: '{}' });
  expect(written).toMatchObject({ status: 503, json: { error: 'file_unavailable' } });
  expect(written.json.message).toContain(`the disk of ${onDisk('remotes.json')} does not answer`);

  for (const verb of [['status'], ['ps'], ['fleet'], ['log', 'asked'], ['why', 'asked']])
    expect(await bed.svc(verb, { timeout_ms: 20_000 })).toMatchObject({ kind: 'exited', code: 0 });

  await delay(Math.max(0, held_at + LONGER_THAN_HEARTBEATS_MS - Date.now()));
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.filter((one) => one.state !== 'running' || one.restarts > 0)).toEqual([]);

  const text = JSON.parse(readFileSync(served('agents.json'), 'utf8'));
  text.agents.push({ ...text.agents[0], id: 'newer', default: false });
  writeFileSync(served('agents.json'), JSON.stringify(text));
  await disk!.go();
  await daemon.stateWhen('no fault of an operator file', (now) => now.operator_file_errors.length === 0);
  await until('the agent that was added meanwhile', async () => {
    const { json } = await daemon.get<AgentsReply>('/agents');
    return json.agents.some(({ id }) => id === 'newer');
  });
});

it('[RPL-5] [DSP-1] starts nothing while the agents were never read, and with the right one once their disk answers', async () => {
  const made = await bed.store.create({
    ...{ name: 'No agent', slug: 'no-agent', status: 'active', body: 'Work.\n\nSessions: 0\n' },
    svc: { kind: 'oneshot', host: HOST, project_dir: join(bed.root, 'project') },
  });
  const daemon = bed.daemon();
  // It checks the disks, and waits until this one is silent.
  const checker = await until(
    'the process that checks disks',
    () => processesMarked(bed.root).find(({ command }) => command.includes('disk-child')),
    60_000,
  );
  signal(checker, 'SIGSTOP');
  await disk!.hold();
  signal(checker, 'SIGCONT');
  await delay(8_000);
  expect(bed.told()).toEqual([]);
  await disk!.go();
  await daemon.ready();
  await until('its worker', () => startsOf(made.uid ?? '') > 0, 60_000);
});
