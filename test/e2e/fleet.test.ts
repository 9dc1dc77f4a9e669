import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FiberStores } from '../../src/contract/http/config.ts';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import type { State, StateComposite } from '../../src/contract/http/state.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** The daemon that is asked, and one that it follows. */
let hub: TestDaemon;
let other: TestDaemon;

const composite = async (since = '') =>
  (await hub.http.get<FibersComposite>(`/fibers/composite?since=${encodeURIComponent(since)}`)).body;
const remote = async () => (await composite()).origins['host-b'];
const rowsOf = (origin: FibersComposite['origins'][string] | undefined) => {
  const read = origin?.read;
  if (read == null) return [];
  return 'fibers' in read ? read.fibers : read.rows;
};
const standing = async () =>
  (await hub.http.get<State>('/state')).body.fleet?.remotes.find(({ name }) => name === 'host-b');
const follow = (url: string, poll_interval_ms = 500, others: object[] = []) =>
  hub.home.write('config/remotes.json', {
    defaults: { poll_interval_ms },
    remotes: [{ name: 'host-b', url }, ...others],
  });
/** Renames the fiber of the other host, and resolves when the hub shows it. */
async function renamed(name: string): Promise<void> {
  await other.http.post('/fiber-edit', { fiber_id: 'far-away', name });
  await until(`the name ${name}`, async () => rowsOf(await remote())[0]?.name === name, 30_000);
}

beforeAll(async () => {
  [hub, other] = await Promise.all([
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-a' },
      prepare: (home) => void home.fiber('at-home', { front: { status: 'open' } }),
    }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b' },
      prepare: (home) => void home.fiber('far-away', { front: { status: 'open' } }),
    }),
  ]);
  await Promise.all([
    hub.rowWhen('at-home', 'listed', () => true),
    other.rowWhen('far-away', 'listed', () => true),
  ]);
});
afterAll(async () => {
  await Promise.all([hub?.dispose(), other?.dispose()]);
});

describe('a board of two hosts', () => {
  it('[RPL-2] [RTE-7] has the rows of both, those of the other host in the very bytes of its own answer', async () => {
    hub.home.write('config/remotes.json', { remotes: [] });
    await until('this host alone', async () => Object.keys((await composite()).origins).length === 1);
    follow(`http://${other.address}`);
    await until('the rows of the other host', async () => rowsOf(await remote()).length === 1);
    const { body, text } = await hub.http.get<FibersComposite>('/fibers/composite');
    expect(Object.keys(body.origins)).toEqual(['host-a', 'host-b']);
    expect(rowsOf(body.origins['host-a']).map(({ id }) => id)).toEqual(['at-home']);
    expect(body.origins['host-b']).toMatchObject({ state: 'fresh', error: null, build: expect.any(String) });
    expect(text).toContain(`"read":${(await other.http.get('/fibers?since=')).text}}`);
    expect(await standing()).toMatchObject({ state: 'fresh', breaker: 'closed', error: null });
  });

  it('[RPL-6] [RPL-20] has the stores and the state of both', async () => {
    const stores = await until('the lists of the other host', async () => {
      const { body } = await hub.http.get<FiberStores>('/fiber-stores');
      return body.origins['host-b'] === undefined ? null : body;
    });
    const own = (await other.http.get<FiberStores>('/fiber-stores')).body.origins;
    const told = { state: 'fresh', last_ok_at: expect.any(Number), error: null };
    expect(stores.origins['host-b']).toEqual({ ...own['host-b'], ...told });
    expect(stores.origins['host-a']).toMatchObject({ state: 'fresh', last_ok_at: null, error: null });
    expect(Object.keys(stores.origins)).toEqual(['host-a', 'host-b']);
    const { origins } = (await hub.http.get<StateComposite>('/state/composite')).body;
    expect(origins['host-b']).toMatchObject({ state: 'fresh', read: { host: 'host-b', running: [] } });
  });

  it('[RPL-2] answers 304 until a row of any host changes, and then what changed', async () => {
    const before = await composite();
    const headers = { 'If-None-Match': `W/"${before.tag}"` };
    expect((await hub.http.get('/fibers/composite', headers)).status).toBe(304);
    await renamed('Renamed');
    expect((await hub.http.get('/fibers/composite', headers)).status).toBe(200);
    const after = await composite(before.tag!);
    expect(after.origins['host-b']!.read).toMatchObject({ rows: [{ name: 'Renamed' }], removed: [] });
    expect(after.origins['host-a']!.read).toMatchObject({ rows: [], removed: [] });
  });

  it('[RPL-2] shows a change of another host as it happens, and tells boards of it', async () => {
    follow(`http://${other.address}`, 600_000);
    const messages: unknown[] = [];
    const board = new WebSocket(`ws://${hub.address}/api/v1/live`);
    board.onmessage = ({ data }) => messages.push(JSON.parse(String(data)));
    await until('the first message', () => messages.length > 0);
    for (const name of ['One', 'Two', 'Three']) await renamed(name);
    await until('the hint', () => messages.some((one) => (one as { feed: string }).feed === 'remotes'));
    board.close();
  });

  it('[RTE-7] is not kept from it by other hosts that hang, send without end, or send what is no feed', async () => {
    const hostile = createServer((request, response) => {
      const kind = request.url?.split('/')[1];
      if (kind === 'silent') return;
      response.setHeader('content-type', 'application/json');
      if (request.url?.endsWith('/version') && kind !== 'stranger') {
        response.end(JSON.stringify({ host: kind, git_short_sha: 'evil' }));
      } else if (kind === 'endless') {
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      } else if (kind === 'slow') {
        const timer = setInterval(() => response.write(' '), 1_000);
        response.on('close', () => clearInterval(timer));
      } else if (kind === 'redirect') response.writeHead(302, { location: `http://${other.address}/` }).end();
      else if (kind === 'broken') response.end('{"host":"broken","state":"fresh","fibers":[{"id":7}]}');
      else response.end(JSON.stringify({ host: 'somebody', git_short_sha: 'evil' }));
    });
    await new Promise<void>((done) => hostile.listen(0, '127.0.0.1', done));
    const { port } = hostile.address() as AddressInfo;
    const kinds = ['silent', 'endless', 'slow', 'redirect', 'broken', 'stranger'];
    follow(
      `http://${other.address}`,
      600_000,
      kinds.map((name) => ({ name, url: `http://127.0.0.1:${port}/${name}`, poll_interval_ms: 200 })),
    );
    const faults = await until(
      'a word on each of them',
      async () => {
        const { origins } = await composite();
        const errors = kinds.map((name) => origins[name]?.error?.code);
        return errors.includes(undefined) ? null : errors;
      },
      60_000,
    );
    const [silence, fault] = ['remote_unreachable', 'answer_unreadable'];
    expect(faults).toEqual([silence, fault, silence, silence, fault, 'misdirected']);
    for (const name of ['Four', 'Five', 'Six']) await renamed(name);
    expect(await remote()).toMatchObject({ state: 'fresh', error: null });
    follow(`http://${other.address}`);
    hostile.closeAllConnections();
    await new Promise((done) => hostile.close(done));
  });

  it('[OPR-1] takes nothing of a build that its entry does not pin, and sends nothing there, until a person pins it', async () => {
    const url = `http://${other.address}`;
    const { git_short_sha } = (await other.http.get<{ git_short_sha: string }>('/version')).body;
    const pin = (build: string) =>
      hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url, build, auth: 'kept' }] });
    pin('0000000');
    const refused = await until('the word on it', async () => {
      const now = await remote();
      return now?.error?.code === 'build_changed' ? now : null;
    });
    expect([refused.state, refused.build]).toEqual(['stale', git_short_sha]);
    expect(rowsOf(refused)[0]?.id).toBe('far-away');
    const edit = (name: string) =>
      hub.http.post('/fiber-edit', { fiber_id: 'far-away', name, origin: 'host-b' });
    const before = other.home.document('far-away');
    expect(await edit('Never')).toMatchObject({
      status: 409,
      body: { error: 'build_changed', origin: 'host-b', message: expect.stringContaining('svc remotes pin') },
    });
    expect(other.home.document('far-away')).toBe(before);
    const peers = (await hub.http.get<{ gaps: object[] }>('/peers')).body;
    expect(peers.gaps).toMatchObject([{ host: 'host-b', error: 'build_changed' }]);
    expect(await hub.home.svc('remotes', 'check', 'host-b')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/build: .* pins 0000000, so nothing is passed on/),
    });

    const pinned = await hub.home.svc('remotes', 'pin', 'host-b');
    expect(pinned.stdout).toBe(`host-b is used only while its daemon is of build ${git_short_sha}.\n`);
    await until('its answer', async () => (await remote())?.state === 'fresh');
    expect((await edit('Far away again')).status).toBe(200);
    expect((await hub.home.svc('remotes', 'check', 'host-b')).code).toBe(0);
    expect((await hub.home.svc('remotes', 'pin', 'host-b', '--remove')).stdout).toContain('any build');
    expect(JSON.parse(readFileSync(join(hub.home.config, 'remotes.json'), 'utf8')).remotes).toEqual([
      { name: 'host-b', url, auth: 'kept' },
    ]);
    follow(url);
  });

  it('[ERR-16] [WPL-26] refuses to reset a remote that answers, or that there is none of', async () => {
    expect(await hub.http.post('/remotes/host-b/reset', {})).toMatchObject({
      status: 409,
      body: { error: 'breaker_not_tripped', origin: 'host-b' },
    });
    expect(await hub.http.post('/remotes/host-z/reset', {})).toMatchObject({
      status: 404,
      body: { error: 'unknown_host' },
    });
  });

  it('[RTE-7] keeps the rows of a host that died, and says how old they are within 15 s', async () => {
    const before = await remote();
    await other.kill9();
    const from = Date.now();
    const stale = await until('the word on it', async () => {
      const now = await remote();
      return now?.state === 'stale' ? now : null;
    });
    expect(Date.now() - from).toBeLessThan(15_000);
    expect(stale.error?.code).toBe('remote_unreachable');
    expect(stale.last_ok_at).toBeLessThanOrEqual(from);
    expect(rowsOf(stale)).toEqual(rowsOf(before));
    await until('the breaker', async () => (await standing())?.breaker === 'tripped');
  });

  it('[BRK-1] [WPL-26] runs one cascade for it at a reset', async () => {
    expect(await hub.http.post('/remotes/host-b/reset', {})).toMatchObject({
      status: 200,
      body: { name: 'host-b', reset: true },
    });
    await until('the end of the cascade', async () => (await standing())?.breaker === 'tripped');
  });

  it('[RTE-7] still shows its rows with their age after a restart of this host', async () => {
    const before = await remote();
    await hub.restart();
    await hub.rowWhen('at-home', 'listed', () => true);
    const after = await until('its rows', async () => {
      const now = await remote();
      return now?.state === 'stale' ? now : null;
    });
    expect(rowsOf(after)).toEqual(rowsOf(before));
    expect(after.last_ok_at).toBeLessThanOrEqual(before!.last_ok_at! + 1);
  });

  it('[RTE-7] has it fresh again without a person once it is back', async () => {
    await other.start();
    follow(`http://${other.address}`);
    await until('its answer', async () => (await remote())?.state === 'fresh', 30_000);
    expect(await standing()).toMatchObject({ state: 'fresh', breaker: 'closed', error: null });
  });

  it('[RTE-7] tells which entry leads to another host, and drops the rows of one that is removed', async () => {
    hub.home.write('config/remotes.json', { remotes: [{ name: 'host-c', url: `http://${other.address}` }] });
    const wrong = await until('the word on it', async () => {
      const { origins } = await composite();
      return origins['host-c']?.error == null ? null : origins;
    });
    expect(wrong['host-c']).toMatchObject({ state: 'no_answer', error: { code: 'misdirected' }, read: null });
    expect(wrong['host-c']!.error!.message).toContain('correct the entry of host-c');
    expect(wrong['host-b']).toBeUndefined();
  });
});
