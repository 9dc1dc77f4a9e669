import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Coding, Packer } from '../../src/http/content-coding.ts';
import { Pieces } from '../../src/http/pieces.ts';
import type { Row } from '../../src/http/row.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | null = null;

afterEach(async () => {
  await served?.server.stop();
  served = null;
});

async function start(rows: Row[]): Promise<Served> {
  served = await serve(rows);
  return served;
}

const VALUE = Array.from({ length: 500 }, (_, index) => ({ index, name: `fiber ${index}` }));
const TEXT = JSON.stringify(VALUE);

describe('large JSON', () => {
  it.each<[Coding, (bytes: Buffer) => Buffer]>([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])(
    'is sent in %s to clients that accept it, under a weak tag that both forms match',
    async (coding, unpack) => {
      const target = await start([getRow('/feed', () => json(VALUE, { etag: '"v1"' }))]);
      const plain = await ask(target, 'GET', '/feed');
      expect(plain).toMatchObject({ body: TEXT, headers: { etag: '"v1"', vary: 'Accept-Encoding' } });
      expect(plain.headers).not.toHaveProperty('content-encoding');
      const headers = { 'Accept-Encoding': coding };
      const packed = await ask(target, 'GET', '/feed', { headers });
      expect(packed.headers).toMatchObject({
        'content-encoding': coding,
        etag: 'W/"v1"',
        vary: 'Accept-Encoding',
      });
      expect(packed.body.length).toBeLessThan(TEXT.length / 4);
      expect(unpack(Buffer.from(packed.body, 'latin1')).toString()).toBe(TEXT);
      const again = await ask(target, 'GET', '/feed', { headers: { ...headers, 'If-None-Match': 'W/"v1"' } });
      expect(again).toMatchObject({ status: 304, body: '', headers: { vary: 'Accept-Encoding' } });
      const head = await ask(target, 'HEAD', '/feed', { headers });
      expect(head.headers['content-length']).toBe(packed.headers['content-length']);
    },
  );

  it('is not compressed if it is small, is not JSON, or its row says so', async () => {
    const target = await start([
      getRow('/small', () => json('a')),
      getRow('/text', () => ({ status: 200, bytes: Buffer.from(TEXT), content_type: 'text/plain' })),
      getRow('/kept', () => json(VALUE), { compress: false }),
    ]);
    for (const path of ['/small', '/text', '/kept']) {
      const { headers } = await ask(target, 'GET', path, { headers: { 'Accept-Encoding': 'br, gzip' } });
      expect(headers, path).not.toHaveProperty('content-encoding');
      expect(headers, path).not.toHaveProperty('vary');
    }
  });

  it('is compressed once for each tag', async () => {
    const packer = new Packer();
    const first = packer.pack(TEXT, 'br', '/feed "1"');
    expect(packer.pack(TEXT, 'br', '/feed "1"')).toBe(first);
    expect(packer.pack(TEXT, 'gzip', '/feed "1"')).not.toBe(first);
    expect(packer.pack(TEXT, 'br', '/feed "2"')).not.toBe(first);
    expect(packer.pack(TEXT, 'br', null)).not.toBe(packer.pack(TEXT, 'br', null));
    expect(brotliDecompressSync(await first).toString()).toBe(TEXT);
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is compressed by %s from its pieces, which are in use until then', async (coding, unpack) => {
    const pieces = Array.from({ length: 9 }, (_, at) => {
      const piece = new Uint8Array(new SharedArrayBuffer(70_000 + at));
      for (let byte = 0; byte < piece.length; byte += 1) piece[byte] = 33 + ((byte * (at + 7)) % 89);
      return piece;
    });
    const nothing = new Uint8Array(0);
    const body = new Pieces([nothing, ...pieces.flatMap((piece) => [piece, nothing])]);
    const packed = new Packer().pack(body, coding, null);
    let is_done = false;
    body.whenUnused(() => {
      expect(is_done).toBe(false);
      for (const piece of pieces) piece.fill(0);
      is_done = true;
    });
    const whole = body.joined();
    expect(is_done).toBe(false);
    expect(unpack(await packed).equals(whole)).toBe(true);
    expect(is_done).toBe(true);
  });
});
