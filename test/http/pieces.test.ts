import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Pieces } from '../../src/http/pieces.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | null = null;
afterEach(async () => {
  await served?.server.stop();
  served = null;
});

function cut(bytes: Uint8Array, size: number): Pieces {
  const pieces: Uint8Array[] = [new Uint8Array(0)];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return new Pieces([...pieces, new Uint8Array(0)]);
}

describe('a body in pieces', () => {
  it('is the same from every offset as its concatenated pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        (all, most) => {
          const pieces = new Pieces(all);
          const whole = Buffer.concat(all);
          expect(pieces.length).toBe(whole.length);
          expect(Buffer.from(pieces.joined())).toEqual(whole);
          for (let from = 0; from < whole.length; from += 1) {
            const part = Buffer.concat(pieces.slices(from, most, () => new Uint8Array(most)));
            expect(part.length).toBeGreaterThan(0);
            expect(part.length).toBeLessThanOrEqual(most);
            expect(part).toEqual(whole.subarray(from, from + part.length));
          }
          expect(pieces.slices(whole.length, most, () => new Uint8Array(most))).toEqual([]);
        },
      ),
    );
  });

  it('is taken in few large parts where its pieces are small, and a large piece as it is', () => {
    const large = Buffer.alloc(200, 'l');
    const pieces = new Pieces([...Array.from({ length: 50 }, () => Buffer.from('s')), large]);
    const room = () => new Uint8Array(100);
    expect(pieces.slices(0, 100, room).map(({ length }) => length)).toEqual([50, 50]);
    expect(pieces.slices(100, 100, room).map(({ buffer }) => buffer)).toEqual([large.buffer]);
  });

  it('copies no large piece for the text around it, nor the end of one for room that is left', () => {
    const large = [Buffer.alloc(90, 'a'), Buffer.alloc(90, 'b')];
    const pieces = new Pieces([Buffer.from('(('), large[0]!, Buffer.from(')'), Buffer.from('('), large[1]!]);
    const room = () => new Uint8Array(100);
    const first = pieces.slices(0, 100, room);
    expect(first.map((slice) => Buffer.from(slice).toString())).toEqual(['((', 'a'.repeat(90), ')(']);
    expect(first[1]!.buffer).toBe(large[0]!.buffer);
    expect(pieces.slices(94, 100, room).map(({ buffer }) => buffer)).toEqual([large[1]!.buffer]);
  });

  const bodies: [string, number, number][] = [
    ['nothing', 0, 1],
    ['a few bytes', 20, 3],
    ['less than is written at once', 50_000, 700],
    ['more than a connection takes', 9_000_000, 70_001],
    ['pieces that are written in parts', 3_000_000, 1_000_000],
  ];
  it.each(bodies)('arrives complete, and its connection stays usable: %s', async (_what, size, piece) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => 33 + ((index * 31) % 89)));
    const reply = { status: 200, pieces: cut(bytes, piece), content_type: 'application/json', etag: '"a"' };
    served = await serve([getRow('/read', () => reply), getRow('/next', () => json('next'))]);
    for (const headers of [{}, { Connection: 'close' }] as Record<string, string>[]) {
      const answer = await ask(served, 'GET', '/read', { headers });
      expect(answer.status).toBe(200);
      expect(Buffer.from(answer.body, 'latin1').equals(bytes)).toBe(true);
    }
    const head = await ask(served, 'HEAD', '/read');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, String(size), '']);
    const unchanged = await ask(served, 'GET', '/read', { headers: { 'If-None-Match': '"a"' } });
    expect([unchanged.status, unchanged.body]).toEqual([304, '']);
    expect((await ask(served, 'GET', '/next')).body).toBe('"next"');
  });

  it('arrives as it was when it was given, also where its connection ends with it', async () => {
    const given: Promise<void>[] = [];
    const row = getRow('/last', async () => {
      const bytes = Buffer.alloc(9_000, 'a');
      given.push(served!.server.stop());
      await setTimeout(50);
      setImmediate(() => bytes.fill('b'));
      return { status: 200, pieces: new Pieces([bytes]), content_type: 'text/plain' };
    });
    served = await serve([row]);
    expect((await ask(served, 'GET', '/last')).body).toBe('a'.repeat(9_000));
    await Promise.all(given);
  });

  it('is compressed if the client accepts that and it is not short', async () => {
    const bytes = Buffer.from(JSON.stringify({ words: 'word '.repeat(1_000) }));
    const reply = (size: number) => ({
      status: 200,
      pieces: cut(bytes.subarray(0, size), 100),
      content_type: 'application/json',
    });
    served = await serve([getRow('/read', () => reply(bytes.length)), getRow('/short', () => reply(1_000))]);
    const headers = { 'Accept-Encoding': 'gzip' };
    const packed = await ask(served, 'GET', '/read', { headers });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(Buffer.from(packed.body, 'latin1'))).toEqual(bytes);
    expect((await ask(served, 'GET', '/short', { headers })).headers['content-encoding']).toBeUndefined();
  });
});
