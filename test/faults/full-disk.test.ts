import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Receipt } from '../../src/contract/http/messages.ts';
import type { Version } from '../../src/contract/http/version.ts';
import { initStore } from '../../src/fibers/store.ts';
import { FILE_MESSAGE, sentFile } from '../fibers/attachments/message-files.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, HOST } from './bed.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

/** For a session that this host does not have. */
function fileMessage(size: number) {
  const attachments = [sentFile('large.bin', Buffer.alloc(size))];
  const address = `svc://${HOST}/claude/none`;
  return { ...FILE_MESSAGE, address, attachments };
}

let bed: Bed | null = null;
let disk: SmallDisk | null = null;

afterEach(async () => {
  disk?.mend();
  await bed?.dispose();
  await disk?.remove();
  bed = null;
  disk = null;
});

it('reports what a full disk refuses, truncates nothing, keeps running, and recovers when there is space', async ({
  skip,
}) => {
  disk = smallDisk();
  if (disk === null) return skip('this user may not mount a small file system');
  const root = join(disk.path, 'b');
  mkdirSync(root);
  bed = new Bed({ root });
  const slugs = ['one', 'two', 'three'];
  for (const slug of slugs) await bed.fiber(slug, { armed: false });
  const daemon = await bed.daemon().ready();
  await daemon.stateWhen('a listing', (state) => state.poll_health.stores[0]?.fibers === slugs.length);
  // The first command compiles what the later ones need, while there is space for it.
  expect(await bed.svc(['fiber', 'ls'])).toMatchObject({ code: 0 });
  const paths = slugs.map((slug) => join(root, 'store', '.fibers', slug, `${slug}.md`));
  const before = paths.map((path) => readFileSync(path, 'utf8'));
  disk.fill();

  const body = `${'A line of a long text.\n'.repeat(20_000)}Sessions: 0\n`;
  const edited = await daemon.post<{ error: string; message: string }>('/fiber-edit', {
    fiber_id: 'one',
    body,
  });
  expect(edited.status).toBe(503);
  expect(edited.json).toMatchObject({ error: 'store_unavailable' });
  expect(edited.json.message).toBe(
    `${paths[0]} cannot be written: no space is left; free space there and try again`,
  );
  const created = await daemon.post<{ message: string }>('/fiber/create', { name: 'Four', body });
  expect(created.status).toBe(503);
  expect(created.json.message).toMatch(
    /four\.md cannot be written: no space is left; free space there and try again$/,
  );
  const byHand = await bed.svc(['fiber', 'edit', 'two', '--body', '-'], { input: body });
  expect(byHand).toMatchObject({ kind: 'exited', stdout: '' });
  const doctor = await bed.svc(['doctor']);
  for (const what of ['store', 'data folder'])
    expect(doctor.kind === 'exited' ? doctor.stdout : doctor).toContain(`fail  ${what}: no space is left on`);
  expect(byHand.kind === 'exited' && byHand.code !== 0 && byHand.stderr).toMatch(/no space/i);
  const asked = await daemon.post<{ dispatched: boolean; message: string }>('/dispatch', {
    fiber_id: 'three',
  });
  expect(asked.status).not.toBe(200);
  expect(asked.json.message).toMatch(/no space/i);
  // Files of a message are kept whole or not at all, and its id stays free.
  const message = fileMessage(5 * 1024 * 1024);
  const attachments = join(root, 'data', 'attachments');
  const kept = () => readdirSync(attachments, { recursive: true });
  for (const _ of [1, 2]) {
    const refused = await daemon.post<{ error: string; message: string }>('/messages/files', message);
    expect(refused).toMatchObject({ status: 503, json: { error: 'store_unavailable' } });
    expect(refused.json.message).toMatch(/no space is left; nothing was kept; free space/);
    expect(kept()).toEqual([]);
  }
  expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  expect(bed.told()).toEqual([]);
  const version = (await daemon.get<Version>('/version')).json;
  expect(version).toMatchObject({ ready: true, pid: daemon.pid });
  expect(version.components.map((one) => [one.name, one.restarts])).toEqual(
    version.components.map((one) => [one.name, 0]),
  );

  disk.mend();
  const sent = await daemon.post<Receipt>('/messages/files', { ...message, text: 'Another text.' });
  expect(sent).toMatchObject({ status: 200, json: { reason: 'session_not_found' } });
  await until('the files of the rejected message are gone', () => kept().length === 0);
  expect((await daemon.post('/fiber-edit', { fiber_id: 'one', body })).status).toBe(200);
  expect(await bed.svc(['fiber', 'edit', 'two', '--outcome', 'done'])).toMatchObject({ code: 0 });
  expect((await daemon.post('/dispatch', { fiber_id: 'three', force: true })).status).toBe(200);
  const told = bed;
  await until('a worker that hands off', () => told.told().some((one) => one.event === 'end'), 20_000);
  await daemon.stateWhen('no worker left', (state) => state.running.length === 0);
  const left = readdirSync(join(root, 'store'), { recursive: true }).map(String);
  expect(left.filter((name) => /\.tmp-|\.lock/.test(name))).toEqual([]);
  expect(left.some((name) => name.endsWith('four.md'))).toBe(false);
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

it('names a read-only file system, and the fix, to whoever writes a document and to `svc doctor`', async ({
  skip,
}) => {
  disk = smallDisk();
  if (disk === null) return skip('this user may not mount a small file system');
  bed = new Bed();
  const store = initStore(disk.path);
  const made = await store.create({ name: 'One', slug: 'one' });
  await disk.makeReadOnly();
  await expect(store.edit('one', { body: 'Done.' })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: `${made.path} cannot be written: its file system is read-only; remount it writable and try again`,
  });
  bed.env.SVC_STORES = disk.path;
  const doctor = await bed.svc(['doctor']);
  expect(doctor.kind === 'exited' ? doctor.stdout : doctor).toMatch(
    /fail {2}store: .*EROFS.*\n +fix: remount its file system writable\n/,
  );
});

it('outlives a log that cannot be written, and says how much of it is lost', async ({ skip }) => {
  disk = smallDisk();
  if (disk === null) return skip('this user may not mount a small file system');
  const root = join(disk.path, 'b');
  mkdirSync(root);
  bed = new Bed({ root, env: { SVC_LOG_LEVEL: 'trace' } });
  const daemon = await bed.daemon().ready();
  disk.fill();
  // About twice as many lines as are kept.
  for (let round = 0; round < 50; round += 1)
    await Promise.all(Array.from({ length: 200 }, () => daemon.get('/version')));
  expect((await daemon.get<Version>('/version')).json.ready).toBe(true);
  disk.mend();
  await until('the log again', () => bed?.log().includes('are lost'), 30_000);
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

it('ends when it is told to although its log cannot be written', async ({ skip }) => {
  disk = smallDisk();
  if (disk === null) return skip('this user may not mount a small file system');
  const root = join(disk.path, 'b');
  mkdirSync(root);
  bed = new Bed({ root, env: { SVC_LOG_LEVEL: 'trace' } });
  const daemon = await bed.daemon().ready();
  disk.fill();
  await Promise.all(Array.from({ length: 100 }, () => daemon.get('/version')));
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});
