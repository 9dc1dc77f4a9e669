import { afterEach, describe, expect, it } from 'vitest';
import { SANDBOX_SECURITY_HEADERS, SECURITY_HEADERS } from '../../src/access/security-headers.ts';
import type { AnsweredRequest } from '../../src/http/answering.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | null = null;

afterEach(async () => {
  await served?.server.stop();
  served = null;
});

const lowered = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe('security headers', () => {
  it('are on every answer, in another form on untrusted content', async () => {
    served = await serve([
      getRow('/ours', () => json('a', { etag: '"1"' })),
      getRow('/theirs', () => ({ status: 200, bytes: Buffer.from('<p>'), content_type: 'text/html' }), {
        sandbox: true,
      }),
      getRow('/own', () => json('a', { headers: { 'content-security-policy': "default-src 'none'" } })),
    ]);
    const plain = lowered(SECURITY_HEADERS);
    for (const path of ['/ours', '/nowhere', '/%zz']) {
      expect((await ask(served, 'GET', path)).headers, path).toMatchObject(plain);
    }
    const fresh = await ask(served, 'GET', '/ours', { headers: { 'If-None-Match': '"1"' } });
    expect(fresh).toMatchObject({ status: 304, headers: plain });
    expect((await ask(served, 'GET', '/theirs')).headers).toMatchObject(lowered(SANDBOX_SECURITY_HEADERS));
    expect((await ask(served, 'GET', '/own')).headers).toMatchObject({
      ...plain,
      'content-security-policy': "default-src 'none'",
    });
  });
});

describe('observation', () => {
  it('reports the method, row path, status, time and bytes of every answer', async () => {
    const seen: AnsweredRequest[] = [];
    served = await serve([getRow('/n/:n', (request) => json(request.params.n))], {
      observe: (request) => seen.push(request),
    });
    await ask(served, 'GET', '/n/secret');
    await ask(served, 'GET', '/nowhere');
    await ask(served, 'POST', '/n/1', { body: '{}' });
    expect(seen.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', '/n/:n', 200],
      ['GET', null, 404],
      ['POST', null, 405],
    ]);
    expect(seen[0]!.bytes).toBe('"secret"'.length);
    for (const { ms } of seen) expect(ms).toBeGreaterThanOrEqual(0);
  });
});
