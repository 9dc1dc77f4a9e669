import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { wantedOf } from '../../src/http/content-range.ts';
import type { Content } from '../../src/http/reply.ts';
import type { Row } from '../../src/http/row.ts';
import { until } from '../kit/until.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | null = null;
afterEach(async () => {
  await served?.server.stop();
  served = null;
});

const TAG = "W/'sha256-00ff'";
const MODIFIED = Date.UTC(2026, 0, 31, 2, 40, 5);
const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 251));

/** Content in pieces of odd lengths, and what became of its reading. */
function contentOf(bytes: Buffer, piece = 70_001) {
  const seen = { read: 0, ended: false };
  const content: Content = {
    size: bytes.length,
    async *read(from, end) {
      try {
        for (let at = from; at < end; at += piece) {
          const part = bytes.subarray(at, Math.min(at + piece, end));
          seen.read += part.length;
          yield part;
        }
      } finally {
        seen.ended = true;
      }
    },
  };
  return { content, seen };
}

const contentRow = (path: string, content: Content): Row =>
  getRow(path, () => ({
    status: 200,
    content,
    content_type: 'application/octet-stream',
    etag: TAG,
    last_modified: MODIFIED,
  }));

async function start(rows: Row[]): Promise<Served> {
  served = await serve(rows);
  return served;
}

describe('a range of a content', () => {
  const content = { size: 100, etag: TAG, last_modified: 'Sat, 31 Jan 2026 02:40:05 GMT' };
  it.each<[string, string | undefined, string | undefined, object]>([
    ['is all of it without the header', undefined, undefined, { kind: 'all' }],
    ['is its head', 'bytes=0-9', undefined, { kind: 'part', from: 0, end: 10 }],
    ['is its tail', 'bytes=-10', undefined, { kind: 'part', from: 90, end: 100 }],
    ['is what follows an offset', 'bytes=95-', undefined, { kind: 'part', from: 95, end: 100 }],
    ['ends with it', 'bytes=90-1000', undefined, { kind: 'part', from: 90, end: 100 }],
    [
      'ends with it, however far it reaches',
      `bytes=90-${'9'.repeat(20)}`,
      undefined,
      { kind: 'part', from: 90, end: 100 },
    ],
    ['is all of it for a longer tail', 'bytes=-1000', undefined, { kind: 'part', from: 0, end: 100 }],
    ['is none after its end', 'bytes=100-', undefined, { kind: 'none' }],
    ['is none for no bytes', 'bytes=-0', undefined, { kind: 'none' }],
    ['is all of it when it ends before it begins', 'bytes=9-3', undefined, { kind: 'all' }],
    ['is all of it for several', 'bytes=0-1,5-6', undefined, { kind: 'all' }],
    ['is all of it in another unit', 'lines=0-1', undefined, { kind: 'all' }],
    ['is all of it for a weak tag', 'bytes=0-9', TAG, { kind: 'all' }],
    ['holds for its date', 'bytes=0-9', 'Sat, 31 Jan 2026 02:40:05 GMT', { kind: 'part', from: 0, end: 10 }],
    ['is all of it for another date', 'bytes=0-9', 'Sat, 31 Jan 2026 02:40:06 GMT', { kind: 'all' }],
  ])('%s', (_title, range, if_range, wanted) => {
    expect(wantedOf({ range, 'if-range': if_range }, content)).toEqual(wanted);
  });
});

describe('content that is read while it is sent', () => {
  it('arrives whole and in part, with its length, tag and date', async () => {
    const target = await start([
      contentRow('/file', contentOf(BYTES).content),
      getRow('/next', () => json(1)),
    ]);
    const whole = await receive(target.port, requestText('GET', '/file'));
    expect(whole.head).toContain("ETag: W/'sha256-00ff'");
    expect(whole.head).toContain('Last-Modified: Sat, 31 Jan 2026 02:40:05 GMT');
    expect(whole.head).toContain('Accept-Ranges: bytes');
    expect(whole.body.equals(BYTES)).toBe(true);
  });

  it.each([
    ['bytes=1000000-2500000', 'bytes 1000000-2500000/3000000', BYTES.subarray(1_000_000, 2_500_001)],
    ['bytes=-1', 'bytes 2999999-2999999/3000000', BYTES.subarray(2_999_999)],
  ])('is limited to %s', async (range, told, expected) => {
    const target = await start([contentRow('/file', contentOf(BYTES).content)]);
    const part = await receive(target.port, requestText('GET', '/file', { Range: range }));
    expect(part.head).toMatch(/^HTTP\/1\.1 206 /);
    expect(part.head).toContain(`Content-Range: ${told}`);
    expect(part.body.equals(expected)).toBe(true);
  });

  it('is not heeded in a HEAD, which tells the whole length', async () => {
    const target = await start([contentRow('/file', contentOf(BYTES).content)]);
    const answer = await ask(target, 'HEAD', '/file', { headers: { Range: 'bytes=0-9' } });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-length': '3000000' } });
    expect(answer.headers).not.toHaveProperty('content-range');
  });

  it('is answered 416 with its length if no byte is in the range', async () => {
    const target = await start([contentRow('/file', contentOf(BYTES).content)]);
    const answer = await ask(target, 'GET', '/file', { headers: { Range: 'bytes=3000000-' } });
    expect(answer).toMatchObject({ status: 416, body: '', headers: { 'content-range': 'bytes */3000000' } });
  });

  it('is not read for a HEAD, a matching tag or an empty content', async () => {
    const { content, seen } = contentOf(BYTES);
    const empty = contentOf(Buffer.alloc(0));
    const target = await start([contentRow('/file', content), contentRow('/empty', empty.content)]);
    const both = await exchangeRaw(
      target,
      [requestText('HEAD', '/file') + requestText('GET', '/empty')],
      (text) => parseAnswers(text, [true]).length === 2,
    );
    const [head, nothing] = parseAnswers(both.text, [true]);
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '3000000' } });
    expect(nothing).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    const fresh = await ask(target, 'GET', '/file', { headers: { 'If-None-Match': TAG } });
    expect(fresh).toMatchObject({ status: 304, body: '' });
    expect([seen.read, empty.seen.read]).toEqual([0, 0]);
  });

  it('is read no faster than the client reads it, and no further when the client leaves', async () => {
    const { content, seen } = contentOf(Buffer.alloc(80_000_000, 7));
    const target = await start([contentRow('/file', content)]);
    const socket = connect(target.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.once('data', () => socket.pause());
    socket.write(requestText('GET', '/file'));
    await until('a first piece was read', () => seen.read > 0);
    let before = -1;
    await until('reading stopped', () => {
      const still = before === seen.read;
      before = seen.read;
      return still;
    });
    expect(seen.read).toBeLessThan(40_000_000);
    socket.destroy();
    await until('reading ended', () => seen.ended);
    expect(seen.read).toBeLessThan(60_000_000);
  });

  it.each<[string, (bytes: Buffer) => AsyncIterable<Uint8Array>]>([
    [
      'cannot be read to its end',
      async function* (bytes) {
        yield bytes.subarray(0, 1_000);
        throw new Error('the disk is gone');
      },
    ],
    [
      'is shorter than it was',
      async function* (bytes) {
        yield bytes.subarray(0, 1_000);
      },
    ],
  ])('ends the connection when it %s', async (_title, read) => {
    const target = await start([
      contentRow('/file', { size: 5_000, read: () => read(BYTES) }),
      getRow('/next', () => json(1)),
    ]);
    const heard = await exchangeRaw(target, [requestText('GET', '/file')]);
    expect(heard.text).toContain('Content-Length: 5000');
    expect(heard.text.split('\r\n\r\n')[1]?.length).toBeLessThan(5_000);
    expect((await ask(target, 'GET', '/next')).status).toBe(200);
  });
});

describe('a row that accepts bytes', () => {
  it('gets them unchanged, whatever their type, in a separate buffer', async () => {
    const bodies: Uint8Array[] = [];
    const target = await start([
      {
        ...{
          method: 'POST',
          path: '/bytes',
          summary: '',
          routing: 'local',
          state: 'always',
          body: 'bytes',
          body_limit: 1_000_000,
        },
        replies: { 200: 'empty' },
        handler: (request) => {
          bodies.push(request.body as Uint8Array);
          return { status: 200, empty: true };
        },
      } as Row,
    ]);
    const body = 'x'.repeat(200_000);
    await ask(target, 'POST', '/bytes', { headers: { 'Content-Type': 'text/plain' }, body });
    const [bytes] = bodies;
    expect(Buffer.from(bytes!).toString()).toBe(body);
    expect(bytes!.byteLength).toBe(bytes!.buffer.byteLength);
  });
});

/** One answer with a binary body. */
function receive(port: number, request: string): Promise<{ head: string; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let all = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      all = Buffer.concat([all, chunk]);
      const end = all.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = all.subarray(0, end).toString();
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (all.length < end + 4 + length) return;
      socket.destroy();
      resolve({ head, body: all.subarray(end + 4) });
    });
    socket.write(request);
  });
}
