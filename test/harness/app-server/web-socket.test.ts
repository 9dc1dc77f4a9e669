import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type AppServerAddress, parseAppServerAddress } from '../../../src/config/app-server-address.ts';
import { connectTextSocket, MOST_BYTES } from '../../../src/harness/app-server/web-socket.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { until } from '../../kit/until.ts';

let folder: ScratchFolder;
const stops: (() => void)[] = [];
beforeEach(() => {
  folder = scratchFolder();
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  folder.remove();
});

/** Listens where an app server would, and answers its address. */
async function listen(server: Server | NetServer, path?: string): Promise<AppServerAddress> {
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  stops.push(() => server.close());
  const text =
    path === undefined ? `ws://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${path}`;
  return parseAppServerAddress(text)!;
}

/** A server of WebSockets, with what it was asked and the connections it has. */
async function serve(path?: string) {
  const http = createServer();
  const peers: WebSocket[] = [];
  const asked: Record<string, unknown>[] = [];
  new WebSocketServer({ server: http }).on('connection', (peer, { headers, url }) => {
    peers.push(peer);
    asked.push({ ...headers, url });
    stops.push(() => peer.terminate());
  });
  const address = await listen(http, path);
  const texts: string[] = [];
  const reasons: string[] = [];
  const events = {
    onText: (text: string) => texts.push(text),
    onClose: (reason: string) => reasons.push(reason),
  };
  const socket = await connectTextSocket(address, events, 5_000);
  stops.push(() => socket.close());
  await until('the connection', () => peers.length === 1);
  return { socket, peer: peers[0]!, asked: asked[0]!, texts, reasons };
}

const unheard = { onText: () => undefined, onClose: () => undefined };

describe('the connection to an app server', () => {
  it.each([
    ['a port', undefined],
    ['a Unix socket', 'app.sock'],
    ['a Unix socket with signs in its path', 'a b:c%20?#.sock'],
  ])('sends texts both ways over %s', async (_what, name) => {
    const { socket, peer, asked, texts } = await serve(name && join(folder.path, name));
    expect(asked).toMatchObject({ host: 'localhost', url: '/' });
    expect(asked).not.toHaveProperty('sec-websocket-extensions');
    socket.send('{"id":1,"text":"wörld"}');
    expect(String((await once(peer, 'message'))[0])).toBe('{"id":1,"text":"wörld"}');
    peer.send('x'.repeat(70_000));
    peer.send(Buffer.from('not a text'));
    peer.send('second');
    await until('both texts', () => texts.length === 2);
    expect(texts).toEqual(['x'.repeat(70_000), 'second']);
  });

  it('answers pings', async () => {
    const { peer } = await serve();
    peer.ping('are you there');
    expect(String((await once(peer, 'pong'))[0])).toBe('are you there');
  });

  it.each([
    ['closed by the server', (peer: WebSocket) => peer.close(), 'it closed the connection'],
    ['shut down', (peer: WebSocket) => peer.close(1001), 'it closed the connection with code 1001'],
    ['lost', (peer: WebSocket) => peer.terminate(), 'it cut the connection, as when its program dies'],
    [
      'cut because of a message that is too long',
      (peer: WebSocket) => peer.send(Buffer.alloc(MOST_BYTES + 1, 'x'), { binary: false }),
      `it sent a message longer than ${MOST_BYTES} bytes`,
    ],
  ])('reports once that it is %s, and accepts nothing afterwards', async (_what, end, reason) => {
    const { socket, peer, reasons } = await serve();
    end(peer);
    await until('the end', () => reasons.length > 0);
    expect(() => socket.send('to nobody')).toThrow('the connection is closed');
    socket.close();
    expect(reasons).toEqual([reason]);
  });

  it('reports at once that we closed it', async () => {
    const { socket, peer, reasons, texts } = await serve();
    const gone = once(peer, 'close');
    socket.close();
    expect(reasons).toEqual(['we closed it']);
    await gone;
    expect(texts).toEqual([]);
  });

  it('is closed if the server does not read', async () => {
    const { socket, peer, reasons } = await serve();
    peer.pause();
    const text = 'x'.repeat(4 * 1024 * 1024);
    expect(() => {
      for (let sent = 0; sent < 100; sent += 1) socket.send(text);
    }).toThrow('it does not read what is sent to it');
    expect(reasons).toEqual(['it does not read what is sent to it']);
  });

  it.each([
    [
      'answers without a WebSocket',
      createServer((_request, response) => void response.writeHead(404).end()),
      'it answered 404 instead of opening a WebSocket',
    ],
    [
      'answers the handshake wrongly',
      createServer().on(
        'upgrade',
        (_request, socket) =>
          void socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n',
          ),
      ),
      'Invalid Sec-WebSocket-Accept header',
    ],
    ['says nothing', createNetServer(), 'no answer within 200 ms'],
    ['hangs up', createNetServer((socket) => void socket.destroy()), 'socket hang up'],
  ])('fails if a server %s', async (_what, server, reason) => {
    server.on('connection', (socket) => stops.push(() => socket.destroy()));
    const address = await listen(server);
    await expect(connectTextSocket(address, unheard, 200)).rejects.toThrow(reason);
  });

  it('fails if nothing listens', async () => {
    const address = parseAppServerAddress(`unix:${join(folder.path, 'nobody.sock')}`)!;
    await expect(connectTextSocket(address, unheard, 1_000)).rejects.toThrow('ENOENT');
  });
});
