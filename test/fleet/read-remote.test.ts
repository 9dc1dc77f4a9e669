import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readRemote } from '../../src/fleet/read-remote.ts';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  server = undefined;
});

/** What answers at the address of host-b; reads its commits. */
async function readFrom(listener: RequestListener, etag: string | null = null) {
  server = createServer(listener);
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const url = `http://me:hunter2@127.0.0.1:${port}`;
  return readRemote('host-a', { name: 'host-b', address: { url } }, '/commits?x=1', etag);
}

const BY_B = { 'svc-host': 'host-b', 'content-type': 'application/json' };

describe('a read of the daemon of another host', () => {
  it('[TMP-8] says who asks and what it has, and gives the bytes as they come', async () => {
    let seen: unknown;
    const answer = await readFrom((request, response) => {
      const { 'svc-hops': hops, 'if-none-match': tag, 'accept-encoding': packed } = request.headers;
      seen = [request.method, request.url, hops, tag, packed];
      response.writeHead(200, { ...BY_B, etag: 'W/"2"' }).end('{"host" : "host-b"}');
    }, 'W/"1"');
    expect(seen).toEqual(['GET', '/api/v1/commits?x=1', 'host-a', 'W/"1"', undefined]);
    expect({ ...answer, bytes: String(answer.bytes) }).toEqual({
      bytes: '{"host" : "host-b"}',
      etag: 'W/"2"',
    });
  });

  it('[TMP-8] has no bytes where what was named has not changed', async () => {
    const unchanged: RequestListener = (_, response) => response.writeHead(304, BY_B).end();
    expect(await readFrom(unchanged, 'W/"1"')).toEqual({ bytes: null, etag: 'W/"1"' });
  });

  it.each<[string, string, RequestListener]>([
    ['a 304 to no tag', 'remote_unreachable', (_, response) => response.writeHead(304, BY_B).end()],
    [
      'a redirect',
      'remote_unreachable',
      (_, response) => response.writeHead(302, { ...BY_B, location: 'http://127.0.0.1:9/' }).end(),
    ],
    ['no daemon', 'remote_unreachable', (_, response) => response.end('{"host":"host-b"}')],
    [
      'another host',
      'misdirected',
      (_, response) => response.writeHead(200, { 'svc-host': 'host-z' }).end('{}'),
    ],
    [
      'packed bytes',
      'answer_unreadable',
      (_, response) => response.writeHead(200, { ...BY_B, 'content-encoding': 'gzip' }).end('x'),
    ],
    ['a cut connection', 'remote_unreachable', (request) => request.socket.destroy()],
    [
      'an early end',
      'remote_unreachable',
      (request, response) => {
        response.writeHead(200, { ...BY_B, 'content-length': '100' }).write('{"host"');
        setImmediate(() => request.socket.end());
      },
    ],
    [
      'an endless body',
      'answer_unreadable',
      (_, response) => {
        response.writeHead(200, BY_B);
        const more = () => {
          while (response.write(Buffer.alloc(1024 * 1024, 'x')));
          response.once('drain', more);
        };
        more();
      },
    ],
    [
      'its own refusal',
      'booting',
      (_, response) =>
        response.writeHead(503, BY_B).end(JSON.stringify({ error: 'booting', message: 'it starts' })),
    ],
    [
      'a refusal before it is known who is asked',
      'peer_refused',
      (_, response) =>
        response
          .writeHead(403)
          .end(JSON.stringify({ error: 'peer_refused', reason: 'the peer has uid 1001' })),
    ],
  ])('[TMP-8] takes %s for %s, and shows no secret of the address', async (_, code, listener) => {
    const error = await readFrom(listener).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining('host-b') });
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('[TMP-8] keeps no tag that is not valid in a request header', async () => {
    for (const etag of ['x', `"${'y'.repeat(2_000)}"`, '"a b"']) {
      const answer = await readFrom((_, response) => response.writeHead(200, { ...BY_B, etag }).end('{}'));
      expect(answer.etag).toBeNull();
      await new Promise<void>((done) => server!.close(() => done()));
    }
  });
});
