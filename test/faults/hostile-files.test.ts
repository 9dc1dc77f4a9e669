import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';

const IS_ROOT = process.getuid?.() === 0;
const SECRET = 'a secret of somebody else';

let bed: Bed;
let outside: string | null = null;
afterEach(async () => {
  await bed.dispose();
  if (outside !== null) rmSync(outside, { recursive: true, force: true });
  outside = null;
});

type Row = { id: string; error?: string };
type Culprit = { id: string; make(path: string): void; says: RegExp };

/** Each stands in the place of a document. */
function culprits(): Culprit[] {
  outside ??= mkdtempSync(join(tmpdir(), 'svc-outside-'));
  const notes = join(outside, 'notes.md');
  writeFileSync(notes, `---\nname: Outside\n---\n${SECRET}\n`);
  const link = (target: string) => (path: string) => symlinkSync(target, path);
  return [
    { id: 'pipe', make: (path) => execFileSync('mkfifo', [path]), says: /named pipe/ },
    { id: 'zeros', make: link('/dev/zero'), says: /is a device/ },
    { id: 'pagemap', make: link('/proc/self/pagemap'), says: /file of the kernel/ },
    { id: 'environ', make: link('/proc/self/environ'), says: /file of the kernel/ },
    ...(IS_ROOT ? [{ id: 'kmsg', make: link('/proc/kmsg'), says: /file of the kernel/ }] : []),
    { id: 'away', make: link(notes), says: /leads out of its store.*"follow": true/ },
  ];
}

const place = (id: string) => join(bed.store.root, '.fibers', id, `${id}.md`);
function put({ id, make }: Culprit): void {
  mkdirSync(join(bed.store.root, '.fibers', id), { recursive: true });
  make(place(id));
}

async function expectNamed(daemon: Daemon, all: readonly Culprit[]): Promise<void> {
  for (const { id, says } of all) {
    const row = await until(`the error of ${id}`, async () => {
      const { json } = await daemon.get<{ fibers: Row[] }>('/fibers');
      return json.fibers.find((one) => one.id === id && one.error !== undefined);
    });
    expect(row.error).toMatch(says);
  }
}

/** Bytes that the daemon has read by system calls so far. */
function bytesRead(daemon: Daemon): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${daemon.pid}/io`, 'utf8'))?.[1]);
}

async function expectUnharmed(daemon: Daemon): Promise<void> {
  const { json } = await daemon.get<Version>('/version');
  expect(json).toMatchObject({ ready: true, pid: daemon.pid });
  expect(json.components.filter((one) => one.restarts > 0 || one.state !== 'running')).toEqual([]);
}

it('[DSP-1] lists and starts the good fibers beside documents that are endless, that block or that belong to others', async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  const all = culprits();
  for (const culprit of all) put(culprit);
  await bed.fiber('good', { armed: true });
  await bed.fiber('parent', { armed: false });
  const daemon = await bed.daemon().ready();
  const before = bytesRead(daemon);
  await expectNamed(daemon, all);
  const state = await daemon.stateWhen('a listing', (one) => one.poll_health.stores[0]?.state === 'ok');
  expect(state.poll_health.stores[0]?.error).toContain(`(and ${all.length - 1} more)`);
  await daemon.post('/quarantine/release', {});
  await until('the worker of the good fiber', () => bed.told().some((one) => one.event === 'end'), 40_000);

  const found = await daemon.get<{ hits: { id: string }[] }>('/search?query=secret');
  expect(found).toMatchObject({ status: 200, json: { hits: [] } });
  const nested = await daemon.post('/fiber-nest', { fiber_id: 'good', parent: 'parent' });
  expect(nested.status).toBe(200);
  for (const { id } of all) {
    const shown = await daemon.get(`/fibers/${id}`);
    expect(shown.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(shown.json)).not.toContain(SECRET);
    const edited = await daemon.post('/fiber-edit', { fiber_id: id, outcome: 'x' });
    expect(edited.status).toBeGreaterThanOrEqual(400);
  }
  expect(readFileSync(join(outside!, 'notes.md'), 'utf8')).toBe(`---\nname: Outside\n---\n${SECRET}\n`);
  expect(bytesRead(daemon) - before).toBeLessThan(64 * 1024 * 1024);

  for (const argv of [['fiber', 'ls'], ['fiber', 'check'], ['doctor'], ['status'], ['search', 'secret']]) {
    const ran = await bed.svc(argv, { timeout_ms: 60_000 });
    expect(ran.kind, argv.join(' ')).toBe('exited');
    if (argv[1] === 'check')
      for (const { id } of all) expect(ran.kind === 'exited' ? ran.stdout : '').toContain(place(id));
    expect(JSON.stringify(ran)).not.toContain(SECRET);
  }
  await expectUnharmed(daemon);
  const stopped = await bed.svc(['daemon', 'stop', '--timeout', '20', '--json']);
  expect(stopped).toMatchObject({ kind: 'exited', code: 0 });
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

it('[DSP-1] reports documents that become such files while the daemon runs, and keeps serving', async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  const all = culprits();
  for (const { id } of all) await bed.fiber(id, { armed: false });
  await bed.fiber('good', { armed: true });
  const daemon = await bed.daemon().ready();
  await daemon.stateWhen('a listing', (one) => one.poll_health.stores[0]?.fibers === all.length + 1);
  for (const { id, make } of all) {
    // In one step, as a document is replaced by an editor.
    make(`${place(id)}.new`);
    renameSync(`${place(id)}.new`, place(id));
  }
  await expectNamed(daemon, all);
  await daemon.post('/quarantine/release', {});
  await until('the worker of the good fiber', () => bed.told().some((one) => one.event === 'end'), 40_000);
  expect((await daemon.post('/fiber-edit', { fiber_id: 'good', outcome: 'still here' })).status).toBe(200);
  const found = await daemon.get<{ hits: { id: string }[] }>('/search?query=secret');
  expect(found).toMatchObject({ status: 200, json: { hits: [] } });
  await expectUnharmed(daemon);
});
