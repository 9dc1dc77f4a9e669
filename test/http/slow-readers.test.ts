import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { createDeferred } from '../../src/base/deferred.ts';
import { Pieces } from '../../src/http/pieces.ts';
import type { Content, Reply } from '../../src/http/reply.ts';
import { pause, until } from '../kit/until.ts';
import { ask, requestText } from './raw-exchange.ts';
import { getRow, json, SERVER_KIND, type Served, serve } from './served.ts';

let served: Served | null = null;
afterEach(async () => {
  await served?.server.stop();
  served = null;
});

const BYTES = Buffer.from(Array.from({ length: 24_000_000 }, (_, index) => (index * 31) % 251));

/** Content whose readers are counted while they have something open. */
function counted() {
  const seen = { open: 0, begun: 0, bytes: 0 };
  const content: Content = {
    size: BYTES.length,
    async *read(from, end) {
      seen.open += 1;
      seen.begun += 1;
      try {
        for (let at = from; at < end; at += 50_000) {
          const piece = BYTES.subarray(at, Math.min(at + 50_000, end));
          yield piece;
          seen.bytes += piece.length;
        }
      } finally {
        seen.open -= 1;
      }
    },
  };
  return { content, seen };
}

async function askAndStop(content: Content, read_ahead_bytes: number, clock?: FakeClock) {
  const row = getRow('/file', () => ({ status: 200, content, content_type: 'application/octet-stream' }));
  served = await serve([row], { limits: { read_ahead_bytes }, ...(clock && { clock }) });
  const socket = connect(served.port, '127.0.0.1');
  socket.write(requestText('GET', '/file'));
  await once(socket, 'readable');
  const received: Buffer[] = [];
  const rest = () => socket.on('data', (chunk: Buffer) => received.push(chunk));
  const body = () => {
    const all = Buffer.concat(received);
    return all.subarray(all.indexOf('\r\n\r\n') + 4);
  };
  return { socket, rest, body };
}

describe('a slow reader of a content', () => {
  it('keeps nothing open while it reads nothing and no read-ahead is allowed, and gets every byte later', async () => {
    const { content, seen } = counted();
    const reader = await askAndStop(content, 0);
    await until('the server has let go of the content', async () => {
      const { begun } = seen;
      await pause(200);
      return begun > 0 && seen.open === 0 && begun === seen.begun;
    });
    reader.rest();
    await until('all of it has come', () => reader.body().length >= BYTES.length);
    expect(reader.body().equals(BYTES)).toBe(true);
    expect(seen.begun).toBeGreaterThan(BYTES.length / 65_536);
    reader.socket.destroy();
  });

  it('keeps its content open if there is room for it', async () => {
    const { content, seen } = counted();
    const reader = await askAndStop(content, 1_000_000);
    await pause(200);
    expect(seen).toMatchObject({ open: 1, begun: 1 });
    reader.rest();
    await until('all of it has come', () => reader.body().length >= BYTES.length);
    expect(reader.body().equals(BYTES)).toBe(true);
    expect(seen).toMatchObject({ open: 0, begun: 1 });
    reader.socket.destroy();
  });
});

describe('a client that takes nothing more of its answer', () => {
  const content_type = 'application/octet-stream';
  const { content, seen } = counted();
  const answers: [string, Reply][] = [
    ['a body in memory', { status: 200, bytes: BYTES, content_type }],
    [
      'a body in pieces',
      { status: 200, pieces: new Pieces([BYTES.subarray(0, 100), BYTES.subarray(100)]), content_type },
    ],
    ['a content', { status: 200, content, content_type }],
  ];
  it.each(answers)('is cut off, and makes room for others: %s', async (_what, reply) => {
    served = await serve([getRow('/answer', () => reply), getRow('/ok', () => json('ok'))], {
      limits: { pending_requests: 3, stall_ms: 300 },
    });
    const sockets = Array.from({ length: 3 }, () => connect(served!.port, '127.0.0.1'));
    const ends = sockets.map((socket) => once(socket, 'close'));
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write(requestText('GET', '/answer'));
      await once(socket, 'readable');
    }
    // The native server cuts off who takes nothing by itself after ten seconds.
    await until(
      'room for another request',
      async () => (await ask(served!, 'GET', '/ok')).status === 200,
      7_000,
    );
    await until('nothing is open', () => seen.open === 0);
    let received = 0;
    for (const socket of sockets) socket.on('data', (chunk: Buffer) => (received += chunk.length));
    await Promise.all(ends);
    expect(received).toBeLessThan(3 * BYTES.length);
  });

  it('is not cut off while it takes some of it now and then', async () => {
    const clock = new FakeClock();
    const slow = counted();
    const reader = await askAndStop(slow.content, 1_000_000, clock);
    let received = 0;
    reader.socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      reader.socket.pause();
    });
    await until('all of it has come', async () => {
      const { bytes } = slow.seen;
      clock.advance(20_000);
      await until('the server sends on', () => {
        reader.socket.resume();
        return slow.seen.bytes > bytes || received >= BYTES.length;
      });
      return received >= BYTES.length;
    });
    reader.socket.destroy();
  });

  it.runIf(SERVER_KIND === 'node')('is not one whose earlier request is not answered yet', async () => {
    const clock = new FakeClock();
    const release = createDeferred<void>();
    const begun = { slow: false, answer: false };
    const slow = getRow('/slow', async () => {
      begun.slow = true;
      await release.promise;
      return json('slow');
    });
    const answer = getRow('/answer', () => {
      begun.answer = true;
      return { status: 200, bytes: BYTES, content_type };
    });
    served = await serve([slow, answer], { clock });
    const socket = connect(served.port, '127.0.0.1');
    let received = 0;
    socket.on('data', (chunk: Buffer) => (received += chunk.length));
    socket.write(requestText('GET', '/slow') + requestText('GET', '/answer'));
    await until('both to have begun', () => begun.slow && begun.answer);
    await pause(50);
    clock.advance(100_000);
    release.resolve();
    await until('both answers', () => received > BYTES.length);
    socket.destroy();
  });
});
