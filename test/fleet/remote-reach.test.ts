import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRemoteReach } from '../../src/fleet/remote-reach.ts';

let dir: string;
let server: Server | undefined;
let seen: { url: string | undefined; body: string }[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-reach-'));
  seen = [];
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  server = undefined;
  rmSync(dir, { recursive: true, force: true });
});

function reach(...remotes: unknown[]) {
  const remotes_file = join(dir, 'remotes.json');
  writeFileSync(remotes_file, JSON.stringify({ remotes }));
  return createRemoteReach({ host: 'here', remotes_file, reachedAs: (address) => address });
}

/** Another host's daemon; gives its port. */
async function daemonAnswering(status: number, body: unknown): Promise<number> {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      seen.push({ url: request.url, body: text });
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

describe('how a remote is reached by SSH', () => {
  it('[WPL-21] is its alias and flags', () => {
    const to = reach(
      { name: 'host-b', ssh: 'b-login', ssh_flags: ['-p', '22'] },
      { name: 'host-c', ssh: 'c' },
    );
    expect(to.sshTarget('host-b')).toEqual({ alias: 'b-login', flags: ['-p', '22'] });
    expect(to.sshTarget('host-c')).toEqual({ alias: 'c', flags: [] });
  });

  it.each([
    ['unknown_host', 'host-z', { name: 'host-b', ssh: 'b' }],
    ['invalid_config', 'host-b', { name: 'host-b' }],
    ['invalid_config', 'host-b', { name: 'host-b', ssh: 5 }],
    ['invalid_config', 'host-b', { name: 'host-b', ssh: '-oProxyCommand=x' }],
  ])('[WPL-21] is %s for %s of %j', (code, host, entry) => {
    expect(() => reach(entry).sshTarget(host)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the past session of a remote', () => {
  it('[WPL-21] [WPL-22] is requested from its own daemon', async () => {
    const port = await daemonAnswering(200, { mux_session: 'resume-1', created: true });
    const to = reach({ name: 'host-b', port });
    expect(await to.resumeSession('host-b', 'the-id')).toEqual({ mux_session: 'resume-1', created: true });
    expect(seen).toEqual([{ url: '/api/v1/sessions/resume', body: '{"session":"the-id"}' }]);
  });

  it('[ERR-15] [ERR-20] [WPL-21] passes on that host’s refusal', async () => {
    const port = await daemonAnswering(409, { error: 'session_running', message: 'it runs' });
    const to = reach({ name: 'host-b', url: `http://127.0.0.1:${port}/` });
    await expect(to.resumeSession('host-b', 'x')).rejects.toMatchObject({
      code: 'session_running',
      message: 'it runs',
    });
  });

  it('[WPL-21] on a host that does not answer, or answers with an unknown format, is unreachable', async () => {
    const port = await daemonAnswering(200, { hello: 'world' });
    const to = reach({ name: 'odd', port }, { name: 'gone', port: 1 }, { name: 'nowhere' });
    await expect(to.resumeSession('odd', 'x')).rejects.toMatchObject({ code: 'remote_unreachable' });
    await expect(to.resumeSession('gone', 'x')).rejects.toMatchObject({ code: 'remote_unreachable' });
    await expect(to.resumeSession('nowhere', 'x')).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('[WPL-21] is told of by host and port alone where its url holds a password', async () => {
    const to = reach({ name: 'host-b', url: 'http://me:hunter2@127.0.0.1:1/' });
    const error = await to.resumeSession('host-b', 'x').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'remote_unreachable' });
    expect((error as Error).message).toContain('host-b does not answer at 127.0.0.1:1: ');
    expect((error as Error).message).not.toMatch(/me:|hunter2/);
  });
});
