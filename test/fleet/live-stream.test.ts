import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../src/base/clock.ts';
import { type LiveStream, openLiveStream } from '../../src/fleet/live-stream.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

let scratch: ScratchFolder;
let server: Server;
let sockets: WebSocketServer;
let url: string;
let told: unknown[];
let alive: number;
let closed: string[];
let held: LiveStream | null;
beforeEach(async () => {
  scratch = scratchFolder();
  told = [];
  alive = 0;
  closed = [];
  held = null;
  server = createServer((_, response) => response.writeHead(503).end());
  sockets = new WebSocketServer({ server, path: '/base/api/v1/live' });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
});
afterEach(async () => {
  held?.close();
  for (const socket of sockets.clients) socket.terminate();
  sockets.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  scratch.remove();
});

function open(
  address: { url: string } | { socket: string } = { url },
  { timeout_ms = 20_000, ping_ms = 20_000 } = {},
): void {
  held = openLiveStream(
    { to: { name: 'host-b', address }, timeout_ms, ping_ms },
    {
      message: (value) => told.push(value),
      alive: () => {
        alive += 1;
      },
      closed: (why) => closed.push(why),
    },
    systemClock,
  );
}

const withClient = (serve: (socket: WebSocket) => void) => void sockets.on('connection', serve);
const ended = () => until('the end', () => closed.length > 0);

describe('the stream of another host', () => {
  it('passes its messages on, and reports that it is alive', async () => {
    withClient((socket) => socket.send('{"feed":"fibers","tag":"t"}'));
    open({ url }, { ping_ms: 20 });
    await until('the message and two pongs', () => told.length === 1 && alive >= 2);
    expect(told).toEqual([{ feed: 'fibers', tag: 't' }]);
    held?.close();
    await until('the end there', () => sockets.clients.size === 0);
    expect(closed).toEqual([]);
  });

  it('works over a socket file too', async () => {
    const path = join(scratch.path, 'b.sock');
    const there = createServer();
    const behind = new WebSocketServer({ server: there, path: '/api/v1/live' });
    behind.on('connection', (socket) => socket.send('1'));
    await new Promise<void>((done) => there.listen(path, done));
    open({ socket: path });
    await until('the message', () => told.length === 1);
    held?.close();
    behind.close();
    await new Promise((done) => there.close(done));
  });

  it.each([
    ['is not JSON', '{', 'not JSON'],
    ['is binary', Buffer.from('1'), 'more than this daemon accepts'],
    ['is too long', `"${'x'.repeat(3_000_000)}"`, 'Max payload'],
  ])('ends where a message %s', async (_, message, why) => {
    withClient((socket) => socket.send(message));
    open();
    await ended();
    expect(closed).toEqual([expect.stringContaining(why)]);
    expect(told).toEqual([]);
  });

  it('ends when the host sends more than the limit', async () => {
    withClient((socket) => {
      for (let at = 0; at < 2_000; at += 1) socket.send('1');
    });
    open();
    await ended();
    expect(closed).toEqual(['it sends more than this daemon accepts']);
    expect(told.length).toBeLessThanOrEqual(500);
  });

  it('ends when the host sends more bytes than the limit, whatever their characters', async () => {
    // Three bytes each, so that the limit is reached before as many characters are.
    const text = JSON.stringify('€'.repeat(600_000));
    withClient((socket) => {
      for (let at = 0; at < 6; at += 1) socket.send(text);
    });
    open();
    await ended();
    expect(closed).toEqual(['it sends more than this daemon accepts']);
    expect(told.length).toBeLessThanOrEqual(4);
  });

  it('ends when a ping is not answered', async () => {
    withClient((socket) => socket.pause());
    open({ url }, { timeout_ms: 100, ping_ms: 20 });
    await ended();
    expect(closed).toEqual(['it answers no ping']);
  });

  it('ends where that host ends it, offers none, or is not there', async () => {
    withClient((socket) => socket.close(1001));
    open();
    await ended();
    expect(closed).toEqual(['it closed the connection with code 1001']);
    for (const [address, why] of [
      [{ url: url.replace('/base', '/elsewhere') }, /400|503/],
      [{ url: 'http://127.0.0.1:1' }, /ECONNREFUSED/],
      [{ socket: '/tmp/not-in-a-folder-of-this-user.sock' }, /shared by all users/],
    ] as const) {
      closed = [];
      open(address);
      await ended();
      expect(closed).toEqual([expect.stringMatching(why)]);
    }
  });
});
