import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import type { State } from '../../src/contract/http/state.ts';
import { toldRow, toldWhole } from '../fleet/told-feeds.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** The daemon of a person, another one that is well, and a host that answers whatever it likes. */
let hub: TestDaemon;
let owner: TestDaemon;
let hostile: Server;
/** How it answers the paths below its API; another path has 404. */
let answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {};

const SESSION = '0198c0de-0000-4000-8000-000000000001';
const SCRIPT = '<script src="/api/v1/file?origin=evil&path=/x.js"></script>';

beforeAll(async () => {
  hostile = createServer((request, response) => {
    const path = request.url!.split('?')[0]!.replace('/api/v1', '');
    const answer = answers[path];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((done) => hostile.listen(0, '127.0.0.1', done));
  [hub, owner] = await Promise.all([
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-a' },
      prepare(home) {
        home.fiber('at-home', { front: { status: 'open' } });
        home.write('secret.txt', 'secret of this host');
      },
    }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b' },
      prepare: (home) => void home.fiber('far-away', { front: { status: 'open' } }),
    }),
  ]);
  answers = honest([]);
  hub.home.write('config/remotes.json', {
    defaults: { poll_interval_ms: 200 },
    remotes: [
      { name: 'host-b', url: `http://${owner.address}` },
      { name: 'evil', url: `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`, ssh: 'evil-login' },
    ],
  });
  await until('both hosts', async () => {
    const origins = await composite();
    return origins['host-b']?.state === 'fresh' && origins.evil?.state === 'fresh';
  });
});
afterAll(async () => {
  hostile.closeAllConnections();
  await new Promise((done) => hostile.close(done));
  await Promise.all([hub.dispose(), owner.dispose()]);
});

function json(body: unknown, headers: Record<string, string> = {}) {
  return (_: unknown, response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', 'svc-host': 'evil', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
}

const nothing = (_: unknown, response: ServerResponse) => void response.writeHead(404).end();

let tag = 0;
/** A host whose feed has these rows, and which answers these paths besides. */
function honest(rows: readonly object[], more: typeof answers = {}): typeof answers {
  tag += 1;
  return {
    '/version': json({ host: 'evil', git_short_sha: 'b1' }),
    '/fibers': json(toldWhole('evil', `t-${tag}`, rows)),
    ...more,
  };
}

const composite = async () =>
  (await hub.http.get<FibersComposite>('/fibers/composite')).body.origins as Record<
    string,
    {
      state: string;
      error: { code: string } | null;
      read: { fibers?: { id: string; name: string }[] } | null;
    }
  >;
const shown = async (host: string) => ((await composite())[host]?.read?.fibers ?? []).map(({ id }) => id);

/** What the other hosts and this one are after it was tried. */
async function expectUnharmed(): Promise<void> {
  expect(await shown('host-a')).toEqual(['at-home']);
  expect(await shown('host-b')).toEqual(['far-away']);
  expect((await composite())['host-b']).toMatchObject({ state: 'fresh', error: null });
  expect((await hub.http.get('/fibers/far-away?origin=host-b')).status).toBe(200);
}

describe('a hostile host', () => {
  it('[RTE-7] puts its rows under its own name alone, whatever they say of paths, hosts and keys', async () => {
    const rows = [
      toldRow('far-away', { name: 'not the real one', svc: { kind: 'oneshot', host: 'host-b' } }),
      toldRow('../../secret', { path: hub.home.path('secret.txt'), store: '/', uid: '../../x' }),
    ];
    const text = JSON.stringify(toldWhole('evil', 't-x', rows)).replace(
      '{',
      '{"__proto__":{"host":"host-b"},',
    );
    answers = { ...honest([]), '/fibers': json(text) };
    await until('its rows', async () => (await shown('evil')).length === 2);
    await expectUnharmed();
    const { body } = await hub.http.get<{ fiber: { name: string } }>('/fibers/far-away?origin=host-b');
    expect(body.fiber.name).not.toBe('not the real one');
    const kept = hub.home.path('data/remote-feeds/fibers');
    await hub.stop();
    expect(
      readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((file) => /secret|\.\./.test(file)),
    ).toEqual([]);
    await hub.start({ release: false });
    await until('its rows again', async () => (await shown('evil')).length === 2);
  });

  it.each([
    [
      'the name of another host in its version',
      { '/version': json({ host: 'host-b', git_short_sha: 'b1' }), '/fibers': nothing },
    ],
    ['the rows of another host', { '/fibers': json(toldWhole('host-b', 'x', [toldRow('stolen')])) }],
    ['the name of this host', { '/fibers': json(toldWhole('host-a', 'x', [toldRow('stolen')])) }],
  ])('[RTE-7] is not believed with %s', async (_, more) => {
    answers = honest([], more);
    const reset = () => hub.http.post('/remotes/evil/reset', {});
    await until('its fault', async () => {
      await reset();
      return (await composite()).evil?.error?.code === 'misdirected';
    });
    await expectUnharmed();
    expect(JSON.stringify(await composite())).not.toContain('stolen');
    answers = honest([]);
    await until('its answer', async () => {
      await reset();
      return (await composite()).evil?.error === null;
    });
  });

  it('[RTE-2] [RPL-9] is sent what is for it while its feed cannot be read, and svc fleet says what is wrong', async () => {
    answers = honest([], {
      '/version': json({
        ...{ host: 'evil', version: '1', git_short_sha: 'b1', booted_at: '', ready: true },
        host_class: 'personal',
      }),
      '/fibers': json('{"host":'),
      '/agents': json('what it answers'),
    });
    const breaker = async () => {
      const { body } = await hub.http.get<State>('/state');
      return body.fleet?.remotes.find(({ name }) => name === 'evil');
    };
    await until('its breaker', async () => (await breaker())?.breaker === 'tripped');
    expect((await breaker())?.error).toMatchObject({ code: 'answer_unreadable' });
    const answer = await fetch(`http://${hub.address}/api/v1/agents?origin=evil`);
    expect(await answer.text()).toBe('what it answers');
    expect((await hub.home.svc('fleet')).stdout).toMatch(
      /^The fibers of evil are shown as of .* ago: evil answers at .*: its answer is not JSON\./m,
    );
    await expectUnharmed();
    answers = honest([]);
    await hub.http.post('/remotes/evil/reset', {});
    await until('its answer', async () => (await composite()).evil?.error === null);
  });

  it('[RTE-2] leads nobody elsewhere', async () => {
    const secret = `http://${hub.address}/api/v1/file?path=${encodeURIComponent(hub.home.path('secret.txt'))}`;
    const away = (_: unknown, response: ServerResponse) =>
      void response.writeHead(302, { location: secret, 'svc-host': 'evil', 'content-length': '0' }).end();
    answers = honest([], { '/agents': away, '/transcript': away, '/sessions': away, '/peers': away });
    const url = `http://${hub.address}/api/v1/agents?origin=evil`;
    expect((await fetch(url, { redirect: 'manual' })).headers.get('location')).toBeNull();
    for (const path of [
      `/transcript?host=evil&session=${SESSION}`,
      '/peers',
      '/fleet',
      '/sessions/composite',
    ])
      expect((await hub.http.get(path)).text, path).not.toContain('secret of this host');
    await expectUnharmed();
  });

  it('[RTE-2] has no page of its own in the browser of a person', async () => {
    const headers = {
      'content-type': 'text/html',
      'set-cookie': 'a=b',
      refresh: '0;url=//evil',
      etag: '"e"',
    };
    const page = json(SCRIPT, { ...headers, 'content-security-policy': "script-src 'unsafe-inline' *" });
    answers = honest([], { '/agents': page });
    const url = `http://${hub.address}/api/v1/agents?origin=evil`;
    const answer = await fetch(url);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toMatch(/(^|; )sandbox(;|$)/);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('script-src');
    for (const name of ['set-cookie', 'refresh']) expect(answer.headers.get(name), name).toBeNull();
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    await answer.text();
    // A 304 renews the headers of the page that the browser has.
    answers['/agents'] = (_, response) =>
      void response.writeHead(304, { 'svc-host': 'evil', etag: '"e"' }).end();
    const again = await fetch(url, { headers: { 'If-None-Match': '"e"' } });
    expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, policy]);
  });

  it('[RTE-2] does not answer in the name of another host', async () => {
    answers = honest([], { '/agents': json({}, { 'svc-host': 'host-b' }) });
    const url = `http://${hub.address}/api/v1/agents?origin=evil`;
    expect(await (await fetch(url)).json()).toMatchObject({ error: 'remote_unreachable', origin: 'evil' });
  });

  it('[WPL-21] gets no shell word run with the name of a session', async () => {
    const canary = hub.home.path('canary');
    const bin = hub.home.path('fake-bin');
    // The far side of the connection: a login shell that reads the last word, on this machine.
    const ssh = hub.home.write(
      'fake-bin/ssh',
      '#!/bin/sh\nfor last; do :; done\nPATH=/usr/bin:/bin sh -c "$last"\n',
    );
    chmodSync(ssh, 0o755);
    const names = [
      `a'$(touch ${canary})'b-01K2B3C4D5E6F7G8H9J0K1M2N3-svc`,
      `\`touch ${canary}\`;touch ${canary}&-01K2B3C4D5E6F7G8H9J0K1M2N3-svc`,
      `-01K2B3C4D5E6F7G8H9J0K1M2N3-svc`,
      `$(touch ${canary})`,
    ];
    for (const mux_session of names) {
      answers = honest([], { '/sessions/resume': json({ mux_session, created: true }) });
      const { status, body } = await hub.http.post('/attach', { session: SESSION, shuttle_host: 'evil' });
      expect([422, 503], mux_session).toContain(status);
      if (typeof body.command !== 'string') continue;
      const env = { PATH: `${bin}:/usr/bin:/bin`, TERM: 'dumb' };
      expect(() => execFileSync('/bin/sh', ['-c', body.command as string], { env, stdio: 'pipe' })).toThrow();
      expect(existsSync(canary), mux_session).toBe(false);
    }
  });

  it('[RPL-9] [RPL-15] writes nothing but text to the terminal of a person', async () => {
    const sequence = '\u001b]0;owned\u0007\u001b[2J';
    const version = { version: `1${sequence}`, git_short_sha: sequence, ready: true, host: 'evil' };
    const rows = [toldRow('shown', { name: `Name${sequence}`, outcome: sequence })];
    answers = honest(rows, {
      '/version': json(version),
      '/state': json({ host: 'evil', running: [], error: sequence }),
      '/peers': json({ error: 'refused', message: sequence }),
      '/fibers/shown': json({ fiber: rows[0] }),
      '/why': json({ error: 'x', message: sequence }),
    });
    await until('its row', async () => (await shown('evil')).length === 1);
    for (const words of [
      ['fleet'],
      ['peers'],
      ['status', 'shown'],
      ['why', 'shown'],
      ['remotes', 'check', 'evil'],
    ]) {
      const { stdout, stderr } = await hub.home.svc(...words);
      expect(`${stdout}${stderr}`, words.join(' ')).not.toContain('\u001b');
      expect(`${stdout}${stderr}`, words.join(' ')).not.toContain('\u0007');
    }
  });
});
