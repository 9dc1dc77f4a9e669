import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { requestScope } from '../../src/base/request-scope.ts';
import type { AnsweredRequest } from '../../src/http/answering.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { ask } from './raw-exchange.ts';
import { ANSWERED_HERE, getRow, json, LOOPBACK_ONLY } from './served.ts';

let server: HttpServer | undefined;
afterEach(() => server?.stop());

describe('the observer of requests', () => {
  it('gets each answer with its row, status, time and size, including refusals', async () => {
    const seen: AnsweredRequest[] = [];
    let scope: string | undefined;
    server = createHttpServer({
      host: 'host-a',
      routes: [
        getRow('/plain/:name', () => {
          scope = requestScope();
          return json({ é: 1 });
        }),
        getRow('/slow', async () => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          throw new Error('a slip');
        }),
      ],
      access: LOOPBACK_ONLY,
      booting: () => null,
      route: ANSWERED_HERE,
      observe: (request) => void seen.push(request),
      logger: silentLogger,
      clock: systemClock,
    });
    const [address] = await server.listen('127.0.0.1:0');
    const port = Number(address!.split(':').at(-1));
    const { headers } = await ask({ port }, 'GET', '/plain/x');
    expect([scope, requestScope()]).toEqual([headers['x-request-id'], undefined]);
    await ask({ port }, 'HEAD', '/plain/x');
    await ask({ port }, 'GET', '/slow');
    await ask({ port }, 'GET', '/nowhere');
    await ask({ port }, 'GET', '/plain/x', { headers: { Host: 'evil.example' } });
    expect(seen).toMatchObject([
      { method: 'GET', path: '/plain/:name', status: 200, bytes: 8 },
      { method: 'HEAD', path: '/plain/:name', status: 200, bytes: 0 },
      { path: '/slow', status: 500 },
      { path: null, status: 404 },
      { path: null, status: 403 },
    ]);
    for (const { ms } of seen) expect(ms).toBeGreaterThan(0);
    expect(seen[2]!.ms).toBeGreaterThan(20);
  });
});
