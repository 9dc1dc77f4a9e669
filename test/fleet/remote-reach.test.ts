import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { createRemoteReach } from '../../src/fleet/remote-reach.ts';
import type { RemoteEntry } from '../../src/fleet/remotes-file.ts';

let server: Server | undefined;
let seen: { url: string | undefined; body: string; hops: unknown }[];
/** Of those that answer nobody. */
let silent: string[];
beforeEach(() => {
  seen = [];
  silent = [];
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  server = undefined;
});

function reach(...entries: RemoteEntry[]) {
  return createRemoteReach({
    ...{ host: 'here', entriesNow: async () => entries, reachedAs: (address) => address },
    refuseSilent(host, writes) {
      const what = writes ? 'Nothing was sent.' : 'It is silent.';
      if (silent.includes(host)) throw new CodedError('remote_unreachable', what);
    },
  });
}

/** Another host's daemon, which says that it is `by`; gives its port. */
async function daemonAnswering(status: number, body: unknown, by: string | null = 'host-b'): Promise<number> {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      seen.push({ url: request.url, body: text, hops: request.headers['svc-hops'] });
      const head = { 'content-type': 'application/json', ...(by !== null && { 'svc-host': by }) };
      response.writeHead(status, head).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

describe('how a remote is reached by SSH', () => {
  it('[WPL-21] is its alias and flags', async () => {
    const to = reach(
      { name: 'host-b', ssh: 'b-login', ssh_flags: ['-p', '22'] },
      { name: 'host-c', ssh: 'c' },
    );
    expect(await to.sshTarget('host-b')).toEqual({ alias: 'b-login', flags: ['-p', '22'] });
    expect(await to.sshTarget('host-c')).toEqual({ alias: 'c', flags: [] });
  });

  it.each([
    ['unknown_host', 'host-z', { name: 'host-b', ssh: 'b' }],
    ['invalid_config', 'host-b', { name: 'host-b' }],
    ['invalid_config', 'host-b', { name: 'host-b', ssh: 5 }],
    ['invalid_config', 'host-b', { name: 'host-b', ssh: '-oProxyCommand=x' }],
  ])('[WPL-21] is %s for %s of %j', async (code, host, entry) => {
    await expect(reach(entry).sshTarget(host)).rejects.toMatchObject({ code });
  });
});

describe('the past session of a remote', () => {
  it('[WPL-21] [WPL-22] is requested from its own daemon', async () => {
    const port = await daemonAnswering(200, { mux_session: 'resume-1', created: true });
    const to = reach({ name: 'host-b', port });
    expect(await to.resumeSession('host-b', 'the-id')).toEqual({ mux_session: 'resume-1', created: true });
    expect(seen).toEqual([{ url: '/api/v1/sessions/resume', body: '{"session":"the-id"}', hops: 'here' }]);
  });

  it('[WPL-21] [RTE-2] passes on no refusal of another host, which was not told who is meant', async () => {
    const refusal = { error: 'transcript_missing', message: 'no such session' };
    const port = await daemonAnswering(422, refusal, 'host-x');
    await expect(reach({ name: 'host-b', port }).resumeSession('host-b', 'x')).rejects.toMatchObject({
      code: 'remote_unreachable',
      message: expect.stringContaining('the name of another host'),
    });
  });

  it('[ERR-15] [ERR-20] [WPL-21] passes on that host’s refusal', async () => {
    const port = await daemonAnswering(409, { error: 'session_running', message: 'it runs' });
    const to = reach({ name: 'host-b', url: `http://127.0.0.1:${port}/` });
    await expect(to.resumeSession('host-b', 'x')).rejects.toMatchObject({
      code: 'session_running',
      message: 'host-b: it runs',
    });
  });

  it('[WPL-21] on a host that does not answer, or answers with an unknown format, is unreachable', async () => {
    const port = await daemonAnswering(200, { hello: 'world' });
    const to = reach({ name: 'host-b', port }, { name: 'gone', port: 1 }, { name: 'nowhere' });
    await expect(to.resumeSession('host-b', 'x')).rejects.toMatchObject({ code: 'answer_unreadable' });
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

describe('what is asked of a remote', () => {
  const questions: [string, (to: ReturnType<typeof reach>) => Promise<unknown>][] = [
    ['a past session', (to) => to.resumeSession('host-b', 'x')],
    ['a write', (to) => to.writeTo('host-b', '/capture', {})],
  ];

  it.each(questions)('[RTE-2] is not answered for %s by another host, nor by no daemon', async (_, ask) => {
    for (const by of ['host-x', null]) {
      const port = await daemonAnswering(200, { mux_session: 'resume-1', created: true }, by);
      await expect(ask(reach({ name: 'host-b', port }))).rejects.toMatchObject({
        code: 'remote_unreachable',
        message: expect.stringMatching(by === null ? /no daemon/ : /the name of another host/),
      });
      server?.close();
    }
  });

  it.each(questions)('[BRK-1] is refused at once for %s while it answers nobody', async (_, ask) => {
    const port = await daemonAnswering(200, { mux_session: 'resume-1', created: true });
    silent = ['host-b'];
    await expect(ask(reach({ name: 'host-b', port }))).rejects.toMatchObject({
      code: 'remote_unreachable',
      message: 'Nothing was sent.',
    });
    expect(seen).toEqual([]);
  });

  it('[BRK-1] is refused at once for a read too, which does not say that nothing was sent', async () => {
    silent = ['host-b'];
    await expect(reach({ name: 'host-b', port: 1 }).remoteAt('host-b')).rejects.toThrow(/^It is silent\.$/);
  });

  it('[RTE-2] is written once, and its own refusal comes back, also in another name', async () => {
    const refusal = { error: 'misdirected', message: 'this is host-x' };
    const port = await daemonAnswering(421, refusal, 'host-x');
    const to = reach({ name: 'host-b', port });
    expect(await to.writeTo('host-b', '/capture', { a: 1 })).toEqual({ status: 421, body: refusal });
    expect(seen).toEqual([{ url: '/api/v1/capture', body: '{"a":1}', hops: 'here' }]);
  });

  it('[RTE-2] says of a write without an answer that it may have been carried out', async () => {
    const to = reach({ name: 'host-b', port: 1 });
    await expect(to.writeTo('host-b', '/capture', {})).rejects.toMatchObject({
      code: 'remote_unreachable',
      message: expect.stringContaining('check there before you send it again'),
    });
  });
});
