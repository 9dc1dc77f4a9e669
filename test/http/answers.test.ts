import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { getRow, json } from './served.ts';
import { hello, start } from './start.ts';

describe('answers', () => {
  it('carries type, length, request id and the fixed security headers', async () => {
    const target = await start([hello]);
    const answer = await ask(target, 'GET', '/hello');
    expect(answer).toMatchObject({ status: 200, body: '{"hello":"world"}' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '17',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-z]+-1$/);
  });

  it('answers HEAD as GET without the body and with the same length', async () => {
    const large = new Uint8Array(300_000);
    const target = await start([
      hello,
      getRow('/large', async () => ({ status: 200, bytes: large, content_type: 'application/octet-stream' })),
    ]);
    const both = await exchangeRaw(
      target,
      [requestText('HEAD', '/hello') + requestText('GET', '/hello')],
      (text) => parseAnswers(text, [true]).length === 2,
    );
    const [head, get] = parseAnswers(both.text, [true]);
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '17' } });
    expect(get).toMatchObject({ status: 200, body: '{"hello":"world"}' });
    expect((await ask(target, 'HEAD', '/large')).headers['content-length']).toBe('300000');
  });

  it('answers 304 and 204 with neither body nor length', async () => {
    const target = await start([
      getRow('/tagged', () => json({ a: 1 }, { etag: '"v1"' })),
      getRow('/nothing', () => ({ status: 204, empty: true })),
      hello,
    ]);
    for (const header of ['"v1"', 'W/"v1"', '"v0", W/"v1"', '*']) {
      const answer = await ask(target, 'GET', '/tagged', { headers: { 'If-None-Match': header } });
      expect(answer).toMatchObject({ status: 304, headers: { etag: '"v1"', 'cache-control': 'no-cache' } });
      expect(answer.headers).not.toHaveProperty('content-length');
      expect(answer.headers).not.toHaveProperty('content-type');
    }
    const other = await ask(target, 'GET', '/tagged', { headers: { 'If-None-Match': '"v2", "v"' } });
    expect(other).toMatchObject({ status: 200, body: '{"a":1}', headers: { etag: '"v1"' } });
    const heard = await exchangeRaw(
      target,
      [requestText('GET', '/nothing') + requestText('GET', '/hello')],
      (text) => parseAnswers(text).length === 2,
    );
    const [nothing, after] = parseAnswers(heard.text);
    expect(nothing!.status).toBe(204);
    expect(nothing!.headers).not.toHaveProperty('content-length');
    expect(after!.body).toBe('{"hello":"world"}');
  });

  it('sends a large body completely to a slow reader', async () => {
    const bytes = Buffer.alloc(7_000_000);
    for (let index = 0; index < bytes.length; index += 4) bytes.writeUInt32LE(index, index);
    const target = await start([
      getRow('/feed', () => ({ status: 200, bytes, content_type: 'application/octet-stream' })),
    ]);
    const received = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect(target.port, '127.0.0.1');
      const chunks: Buffer[] = [];
      let size = 0;
      let paused = false;
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > 100_000 && !paused) {
          paused = true;
          socket.pause();
          setTimeout(() => socket.resume(), 50);
        }
        const end = Buffer.concat(chunks.slice(0, 1)).indexOf('\r\n\r\n') + 4;
        if (size - end === bytes.length) {
          socket.destroy();
          resolve(Buffer.concat(chunks).subarray(end));
        }
      });
      socket.write(requestText('GET', '/feed'));
    });
    expect(received.equals(bytes)).toBe(true);
  });

  it('refuses to send a header that could end its line, and answers 500 instead', async () => {
    const target = await start([
      getRow('/split', () => json({}, { headers: { 'X-Name': 'a\r\nSet-Cookie: b=c' } })),
      getRow('/name', () => json({}, { headers: { 'X: a\r\nSet-Cookie': 'b=c' } })),
      getRow('/tag', async () => json({}, { etag: '"a\r\nSet-Cookie: b=c"' })),
    ]);
    for (const path of ['/split', '/name', '/tag']) {
      const answer = await ask(target, 'GET', path);
      expect(answer.status).toBe(500);
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  });
});
