import { chmodSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_LOOPBACK_V6 } from '../http/served.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { findProgram } from '../kit/find-program.ts';
import { run } from '../kit/test-home.ts';

const SECRET = 'violet-heron-4711';
const NOBODY = 65_534;

/** Why this cannot be tried here, or null. */
const CANNOT_TRY: string | null =
  process.platform !== 'linux'
    ? 'the gate reads /proc, which only Linux has'
    : process.geteuid?.() !== 0
      ? 'only root can become another user'
      : ['su', 'curl'].some((name) => findProgram(name, process.env.PATH ?? '') === null)
        ? 'su or curl is missing'
        : null;

let daemon: TestDaemon;

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** curl by a user of the name, with a login shell of its own; what it printed, the answer's head included. */
async function curlAs(user: string, ...args: string[]): Promise<{ code: number | null; out: string }> {
  const words = ['curl', '--silent', '--include', '--max-time', '10', ...args].map(quoted).join(' ');
  const ran = await run('su', ['-s', '/bin/sh', user, '-c', words], { PATH: process.env.PATH });
  return { code: ran.code, out: ran.stdout };
}

function refusalOf(out: string): unknown {
  const at = out.indexOf('\r\n\r\n');
  expect(out.slice(0, at), out).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  return JSON.parse(out.slice(at + 4));
}

const REFUSAL = { error: 'peer_refused', reason: `peer uid ${NOBODY} is not the daemon's uid 0` };
const TITLE = `another user of this machine${CANNOT_TRY === null ? '' : ` (${CANNOT_TRY})`}`;

describe.skipIf(CANNOT_TRY !== null)(TITLE, () => {
  beforeAll(async () => {
    daemon = await startTestDaemon({
      prepare(home) {
        home.fiber('quiet', { front: { name: SECRET } });
        home.write('ui/index.html', `<!doctype html><title>${SECRET}</title>`);
        home.env.SVC_UI_DIST = home.path('ui');
      },
      release: false,
    });
  });

  afterAll(async () => {
    await daemon?.dispose();
  });

  const base = () => `http://${daemon.address}`;
  const port = () => daemon.address.split(':').at(-1)!;
  const asJson = ['-H', 'Content-Type: application/json'];
  const dispatch = JSON.stringify({ fiber_id: 'quiet', force: true });

  async function expectNoEffect(): Promise<void> {
    const row = await daemon.row('quiet');
    expect(row?.name).toBe(SECRET);
    expect(row?.runtime ?? null).toBeNull();
    expect((await daemon.state()).boot_quarantine.active).toBe(true);
    const runs = join(daemon.home.data, 'runs');
    expect(readdirSync(daemon.home.data).includes('runs') ? readdirSync(runs) : []).toEqual([]);
  }

  it.each([
    '/',
    '/phone',
    '/api/v1/version',
    '/api/v1/fibers',
    '/api/v1/state',
    '/nowhere',
    '/%00',
    '/../..',
  ])('[AUT-2] [ERR-8] reads nothing at %s, the page and its assets included', async (path) => {
    const { out } = await curlAs('nobody', '--path-as-is', base() + path);
    expect(refusalOf(out)).toEqual(REFUSAL);
    expect(out).not.toContain(SECRET);
  });

  it.each<[string, string[]]>([
    ['JSON', ['-X', 'POST', ...asJson, '-d', dispatch]],
    ['plain text', ['-X', 'POST', '-H', 'Content-Type: text/plain', '-d', dispatch]],
    ['a broken body', ['-X', 'POST', ...asJson, '-d', '{']],
    ['a chunked body', ['-X', 'POST', ...asJson, '-H', 'Transfer-Encoding: chunked', '-d', dispatch]],
    [
      'a body that waits to be asked for',
      ['-X', 'POST', ...asJson, '-H', 'Expect: 100-continue', '-d', dispatch],
    ],
    [
      'OPTIONS',
      ['-X', 'OPTIONS', '-H', 'Access-Control-Request-Method: POST', '-H', 'Origin: http://evil.example'],
    ],
    [
      'an upgrade',
      [
        '-H',
        'Connection: Upgrade',
        '-H',
        'Upgrade: websocket',
        '-H',
        'Sec-WebSocket-Version: 13',
        '-H',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ],
    ],
  ])('[AUT-2] [ERR-8] has no effect by %s', async (_, args) => {
    const { out } = await curlAs('nobody', ...args, `${base()}/api/v1/dispatch`);
    expect(refusalOf(out)).toEqual(REFUSAL);
    expect(out).not.toMatch(/access-control/i);
    await expectNoEffect();
  });

  it.skipIf(!HAS_LOOPBACK_V6)('[AUT-2] is refused over IPv6 too', async () => {
    const { out } = await curlAs('nobody', `http://[::1]:${port()}/api/v1/fibers`);
    expect(refusalOf(out)).toEqual(REFUSAL);
  });

  it('[AUT-2] is not admitted by proxy headers or another version of HTTP', async () => {
    const claims = ['X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1', 'X-Real-IP: 127.0.0.1'];
    const headers = claims.flatMap((claim) => ['-H', claim]);
    const { out } = await curlAs('nobody', ...headers, '--haproxy-protocol', `${base()}/api/v1/fibers`);
    expect(out).not.toContain(SECRET);
    expect(out).not.toContain(' 200 ');
    for (const version of ['--http1.0', '--http2-prior-knowledge']) {
      const answer = await curlAs('nobody', version, `${base()}/api/v1/fibers`);
      expect(answer.out).not.toContain(SECRET);
      expect(answer.out).not.toContain(' 200 ');
    }
  });

  it('cannot open the Unix socket, even if every folder above it is open', async () => {
    const path = join(daemon.home.data, 'socket', 'api.sock');
    const open = () =>
      new Promise((resolve) => {
        const socket = connect(path, () => resolve(socket.end()));
        socket.on('error', resolve);
      });
    expect(await open()).not.toBeInstanceOf(Error);
    const folders = [daemon.home.root, daemon.home.data, dirname(path)];
    try {
      const shut = await curlAs('nobody', '--unix-socket', path, 'http://localhost/api/v1/fibers');
      expect(shut).toEqual({ code: 7, out: '' });
      for (const folder of folders) chmodSync(folder, 0o755);
      const ajar = await curlAs('nobody', '--unix-socket', path, 'http://localhost/api/v1/fibers');
      expect(ajar).toEqual({ code: 7, out: '' });
    } finally {
      for (const folder of folders) chmodSync(folder, 0o700);
    }
  });

  it('differs from the operator only in its user', async () => {
    const { out } = await curlAs('root', `${base()}/api/v1/fibers`);
    expect(out).toContain(SECRET);
    expect((await curlAs('root', `${base()}/`)).out).toContain(SECRET);
    const text = ['-X', 'POST', '-H', 'Content-Type: text/plain', '-d', dispatch];
    expect((await curlAs('root', ...text, `${base()}/api/v1/dispatch`)).out).toMatch(/^HTTP\/1\.1 415 /);
    await expectNoEffect();
  });
});
