import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { describedRows } from '../../src/routes/described-rows.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Answer, Json } from '../kit/http.ts';
import { until } from '../kit/until.ts';

const SESSION = '0198c0de-0000-4000-8000-000000000001';
const GIB = 1024 ** 3;
/** Bytes between two looks at the memory. */
const STEP = GIB / 16;
/** It is hashed and sent twice, perhaps beside much else. */
const HUGE_MS = 240_000;
/** Each row that another host may answer, but for the transcripts whose answers say that they lie there. */
const PASSED_ON = describedRows().filter(
  ({ routing, remote, begins_here }) =>
    (routing === 'owner' || routing === 'host' || typeof routing === 'object') &&
    remote === undefined &&
    begins_here?.({}) !== true,
);

/** The daemon that is asked, and the one that answers. */
let hub: TestDaemon;
let owner: TestDaemon;
beforeAll(async () => {
  [hub, owner] = await Promise.all([
    startTestDaemon({ release: false, settings: { SVC_HOST: 'host-a', SVC_LOG_LEVEL: 'debug' } }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b', SVC_LOG_LEVEL: 'debug' },
      prepare(home) {
        home.fiber('say-hello', { front: { status: 'open' }, svc: { host: 'host-b' } });
      },
    }),
  ]);
  await owner.rowWhen('say-hello', 'listed', () => true);
  hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url: `http://${owner.address}` }] });
  await until('the remote', async () => (await hub.http.get('/agents?origin=host-b')).status === 200);
});
afterAll(async () => {
  await Promise.all([hub.dispose(), owner.dispose()]);
});

function send(daemon: TestDaemon, row: Row): Promise<Answer> {
  const { params = {}, query = '', body } = row.example ?? {};
  const path = `/${row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => params[name] ?? 'some')}`;
  const field = typeof row.routing === 'object' ? row.routing.param : 'origin';
  if (row.method === 'GET') return daemon.http.get(`${path}?${query}&${field}=host-b`);
  return daemon.http.post(path, { ...(body as object), dry_run: true, origin: 'host-b' });
}

describe('a request for another host', () => {
  it.each(PASSED_ON.map((row) => [`${row.method} ${row.path}`, row] as const))(
    '[RTE-2] [RTE-3] [RTE-4] is answered as by that host itself: %s',
    async (_, row) => {
      const passed = await send(hub, row);
      const direct = await send(owner, row);
      expect([passed.status, timeless(passed.text)]).toEqual([direct.status, timeless(direct.text)]);
      for (const name of ['content-type', 'etag', 'last-modified', 'cache-control', 'svc-error'])
        expect(passed.headers[name], name).toEqual(direct.headers[name]);
      expect(passed.headers['svc-host']).toBe('host-b');
    },
  );

  it('[RTE-4] [RPL-12] [RPL-14] says of transcripts that they lie there', async () => {
    const query = `host=host-b&session=${SESSION}`;
    expect((await hub.http.get(`/transcript?${query}`)).body).toMatchObject({
      host: 'host-b',
      availability: 'transcript_missing',
    });
    expect((await hub.http.get(`/sessions/links?host=host-b&sessions=${SESSION}`)).body).toMatchObject({
      host: 'host-b',
    });
  });

  it('[RPL-22] gets the bytes of a file, a part of it, and a 304 where it has them', async () => {
    const bytes = randomBytes(8_000_000);
    const path = owner.home.write('large.bin', bytes.toString('base64'));
    const url = `http://${hub.address}/api/v1/file?origin=host-b&path=${encodeURIComponent(path)}`;
    const answer = await fetch(url);
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(readFileSync(path)));
    const etag = answer.headers.get('etag')!;
    expect(etag).toMatch(/^W\/'sha256-/);
    const again = await fetch(url, { headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    const part = await fetch(url, { headers: { Range: 'bytes=100-199' } });
    expect([part.status, await part.text()]).toEqual([206, readFileSync(path, 'latin1').slice(100, 200)]);
  });

  it.runIf(process.platform === 'linux')(
    '[RPL-22] [P20] gets a file of 1 GB through two daemons in constant memory',
    async () => {
      const path = owner.home.sparse('huge', GIB);
      const [before, most] = [[hub, owner].map((daemon) => daemon.resident_mib), [0, 0]];
      const answer = await fetch(
        `http://${hub.address}/api/v1/file?origin=host-b&path=${encodeURIComponent(path)}`,
      );
      expect(answer.headers.get('content-length')).toBe(String(GIB));
      let [size, end] = [0, ''];
      for await (const chunk of answer.body!) {
        const seen = Math.floor(size / STEP);
        size += chunk.length;
        end = Buffer.from(chunk.subarray(-3)).toString();
        if (Math.floor(size / STEP) === seen) continue;
        for (const [at, daemon] of [hub, owner].entries())
          most[at] = Math.max(most[at]!, daemon.resident_mib - before[at]!);
      }
      expect([size, end]).toEqual([GIB, 'end']);
      expect(Math.max(...most)).toBeLessThan(200);
    },
    HUGE_MS,
  );

  it('[WPL-9] [LIM-6] brings 25 MB of images there, whole', async () => {
    const attachments = [9_000_000, 9_000_000, 7_000_000].map((size, nth) => {
      const gif = Buffer.concat([Buffer.from('GIF89a'), randomBytes(size - 6)]);
      return { name: `${nth}.gif`, mime: 'image/gif', data: gif.toString('base64'), sha256: sha256(gif) };
    });
    for (const body of [
      { origin: 'host-b', fiber: 'say-hello', attachments },
      { fiber: 'say-hello', attachments, origin: 'host-b' },
    ]) {
      const stored = await hub.http.post<{ files: { path: string; sha256: string; size: number }[] }>(
        '/attachments',
        body,
      );
      expect(stored.status).toBe(200);
      expect(stored.body.files.map(({ sha256, size }) => [sha256, size])).toEqual([
        [attachments[0]!.sha256, 9_000_000],
        [attachments[1]!.sha256, 9_000_000],
        [attachments[2]!.sha256, 7_000_000],
      ]);
      for (const { path } of stored.body.files) expect(path.startsWith(owner.home.data)).toBe(true);
    }
  });

  it('[WPL-13] takes effect there, once, and nowhere else', async () => {
    const create = { name: 'Passed on', origin: 'host-b' };
    const created = await hub.http.post<{ fiber: { id: string } }>('/fiber/create', create);
    expect([created.status, created.text]).toEqual([201, expect.stringContaining('passed-on')]);
    const { id } = created.body.fiber;
    await owner.rowWhen(id, 'listed', () => true);
    expect((await owner.fibers()).filter((row) => row.id.startsWith('passed-on'))).toHaveLength(1);
    expect(await hub.fibers()).toEqual([]);
  });

  it('has one id in the logs of both', async () => {
    const { headers } = await hub.http.get('/fibers/say-hello?origin=host-b');
    const line = `"request_id":"${headers['x-request-id']}"`;
    await until('both lines', () => hub.log.includes(line) && owner.log.includes(line));
  });

  it('[RTE-2] is refused by a host that is not the one it names, and by one that has had it', async () => {
    const remotes = (home: TestDaemon['home'], name: string, to: TestDaemon) =>
      home.write('config/remotes.json', {
        remotes: [
          { name: 'host-b', url: `http://${owner.address}` },
          { name, url: `http://${to.address}`, ssh: 'login' },
        ],
      });
    remotes(hub.home, 'host-c', owner);
    const ask = () => hub.http.get('/fibers/say-hello?origin=host-c');
    const expectUnread = async () => {
      const receipt = await hub.http.get(`/transcript?host=host-c&session=${SESSION}`);
      expect(receipt).toMatchObject({ status: 200, body: { availability: 'host_unreachable' } });
      const { body } = await hub.http.get(`/sessions/links?host=host-c&sessions=${SESSION}`);
      expect(body.links).toMatchObject([{ availability: 'host_unreachable' }]);
      const resumed = await hub.http.post('/attach', { session: SESSION, shuttle_host: 'host-c' });
      expect(resumed).toMatchObject({
        ...{ status: 503, body: { error: 'remote_unreachable', origin: 'host-c' } },
        text: expect.stringContaining('the name of another host'),
      });
    };
    const misdirected = await until('the other host', async () => {
      const answer = await ask();
      return answer.status === 421 ? answer : null;
    });
    expect(misdirected.body).toMatchObject({ error: 'misdirected', origin: 'host-c', host: 'host-b' });
    await expectUnread();
    remotes(owner.home, 'host-c', hub);
    const loop = await until('the loop', async () => {
      const answer = await ask();
      return answer.status === 508 ? answer : null;
    });
    expect(loop.body).toMatchObject({ error: 'forwarding_loop', path: ['host-a', 'host-b', 'host-a'] });
    await expectUnread();
  });

  it('[RTE-2] [WPL-18] [AUT-4] is passed on through its Unix socket where the entry names one', async () => {
    const dead = { url: 'http://127.0.0.1:1', auth: 'kept' };
    hub.home.write('config/remotes.json', {
      remotes: [
        { name: 'host-b', ...dead },
        { name: 'host-c', port: 1 },
      ],
    });
    const ask = () => hub.http.get('/fibers/say-hello?origin=host-b');
    await until('the dead address', async () => (await ask()).status === 503);

    const listed = (await hub.http.get('/config/remotes')).body;
    const write = (request: Json) => hub.http.post('/fleet/remotes', { name: 'host-b', ...request });
    const remote = { url: dead.url, socket: owner.home.path('data/socket/api.sock') };
    const rehearsed = await write({ remote, dry_run: true });
    expect(rehearsed.body).toMatchObject({ dry_run: true, documents: [{ path: listed.path }] });
    expect((await hub.http.get('/config/remotes')).body.text).toBe(listed.text);
    const written = await write({ remote, expected_digest: listed.digest });
    expect(written).toMatchObject({ status: 200, body: { changed: true, remotes: ['host-b', 'host-c'] } });
    const { remotes } = JSON.parse(readFileSync(hub.home.path('config/remotes.json'), 'utf8'));
    expect(remotes[0]).toEqual({ name: 'host-b', ...remote, auth: 'kept' });
    expect((await hub.home.svc('remotes')).stdout).toContain(remote.socket);
    await until('its answer', async () => (await ask()).status === 200);
    expect((await ask()).headers['svc-host']).toBe('host-b');

    expect(await write({ remote: { port: 1 }, expected_digest: listed.digest })).toMatchObject({
      status: 409,
      body: { error: 'conflict', conflict: true, digest: written.body.digest },
    });
    expect(await write({ remote: { ssh: 'b' } })).toMatchObject({
      status: 400,
      body: { error: 'validator_refused', message: expect.stringContaining('host-b') },
    });
    expect(await write({ name: 'a b', remote: null })).toMatchObject({ status: 400 });
    expect(await write({ name: 'none', remote: null })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
    expect((await write({ name: 'host-c', remote: null })).body.remotes).toEqual(['host-b']);
  });

  it('[RTE-2] is refused in time where that host has stopped, and answered again once it is back', async () => {
    await owner.kill9();
    expect(await hub.http.get('/agents?origin=host-b')).toMatchObject({
      status: 503,
      body: { error: 'remote_unreachable', origin: 'host-b' },
    });
    expect((await hub.http.get('/agents')).status).toBe(200);
    await owner.start();
    hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url: `http://${owner.address}/` }] });
    await until('its answer', async () => (await hub.http.get('/agents?origin=host-b')).status === 200);
  });
});

/** What is new in each answer: moments, and ids that were just made. */
function timeless(text: string): string {
  return text.replaceAll(
    /\b(?:01[0-9A-Z]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{13})\b/g,
    '…',
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
