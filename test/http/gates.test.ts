import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { createLogger } from '../../src/base/logger.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json } from './served.ts';
import { hello, start } from './start.ts';

describe('gates before the handler', () => {
  it('checks the access rules on every request, known path or not', async () => {
    const target = await start([hello], { access: { allowed_hosts: ['board.example'] } });
    for (const path of ['/hello', '/nowhere']) {
      const answer = await ask(target, 'GET', path, { headers: { Host: 'evil.example' } });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body).error).toBe('forbidden_host');
    }
    expect((await ask(target, 'GET', '/hello', { headers: { Host: 'board.example:80' } })).status).toBe(200);
    const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade', Origin: 'http://evil.example' };
    expect((await ask(target, 'GET', '/hello', { headers: upgrade })).status).toBe(403);
  });

  it('holds back rows that need a ready daemon and serves the rest', async () => {
    let booting: Record<string, unknown> | null = { error: 'booting', ready: false };
    const target = await start([hello, getRow('/state', () => json('state'), { state: 'ready' })], {
      booting: () => booting,
    });
    const held = await ask(target, 'GET', '/state');
    expect(held).toMatchObject({ status: 503, body: '{"error":"booting","ready":false}' });
    expect(held.headers).not.toHaveProperty('retry-after');
    expect((await ask(target, 'GET', '/hello')).status).toBe(200);
    booting = null;
    expect((await ask(target, 'GET', '/state')).body).toBe('"state"');
  });

  it('limits how many requests wait at one time', async () => {
    const release = createDeferred<void>();
    let waiting = 0;
    const bothWait = createDeferred<void>();
    const target = await start(
      [
        getRow('/wait', async () => {
          waiting += 1;
          if (waiting === 2) bothWait.resolve();
          await release.promise;
          return json('done');
        }),
      ],
      { limits: { pending_requests: 2 } },
    );
    const waits = [ask(target, 'GET', '/wait'), ask(target, 'GET', '/wait')];
    await bothWait.promise;
    const refused = await ask(target, 'GET', '/wait');
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body).error).toBe('queue_full');
    release.resolve();
    expect((await Promise.all(waits)).map((answer) => answer.body)).toEqual(['"done"', '"done"']);
  });
});

describe('the log', () => {
  it('has one line per request at debug level, without the query, with the request id of the answer', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      component: 'http',
      level: 'debug',
      destination: { write: (line) => lines.push(line) },
    });
    const target = await start([hello], { logger });
    const answer = await ask(target, 'GET', '/hello?token=secret');
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0]!);
    expect(line).toMatchObject({
      method: 'GET',
      path: '/hello',
      status: 200,
      request_id: answer.headers['x-request-id'],
    });
    expect(lines[0]).not.toContain('secret');
  });
});
