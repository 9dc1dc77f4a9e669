import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Content } from '../../src/http/row.ts';
import { pause, until } from '../kit/until.ts';
import { requestText } from './raw-exchange.ts';
import { getRow, type Served, serve } from './served.ts';

let served: Served | null = null;
afterEach(async () => {
  await served?.server.stop();
  served = null;
});

const BYTES = Buffer.from(Array.from({ length: 24_000_000 }, (_, index) => (index * 31) % 251));

/** Content whose readers are counted while they have something open. */
function counted() {
  const seen = { open: 0, begun: 0 };
  const content: Content = {
    size: BYTES.length,
    async *read(from, end) {
      seen.open += 1;
      seen.begun += 1;
      try {
        for (let at = from; at < end; at += 50_000) yield BYTES.subarray(at, Math.min(at + 50_000, end));
      } finally {
        seen.open -= 1;
      }
    },
  };
  return { content, seen };
}

async function askAndStop(content: Content, read_ahead_bytes: number) {
  const row = getRow('/file', () => ({ status: 200, content, content_type: 'application/octet-stream' }));
  served = await serve([row], { limits: { read_ahead_bytes } });
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
    expect(seen).toEqual({ open: 1, begun: 1 });
    reader.rest();
    await until('all of it has come', () => reader.body().length >= BYTES.length);
    expect(reader.body().equals(BYTES)).toBe(true);
    expect(seen).toEqual({ open: 0, begun: 1 });
    reader.socket.destroy();
  });
});
