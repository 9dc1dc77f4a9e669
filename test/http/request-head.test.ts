import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createDeferred } from '../../src/base/deferred.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { getRow, json, postRow, SERVER_KIND } from './served.ts';
import { hello, start } from './start.ts';

describe('request lines and heads', () => {
  it('answers pipelined requests in order', async () => {
    const target = await start([getRow('/n/:n', (request) => json(request.params.n))]);
    const texts = Array.from({ length: 20 }, (_, index) => requestText('GET', `/n/${index}`));
    const heard = await exchangeRaw(target, [texts.join('')], (text) => parseAnswers(text).length === 20);
    expect(parseAnswers(heard.text).map((answer) => JSON.parse(answer.body))).toEqual(
      Array.from({ length: 20 }, (_, index) => String(index)),
    );
  });

  it.runIf(SERVER_KIND === 'uws')(
    'closes on a request that arrives before the previous answer, and never runs it',
    async () => {
      const started = createDeferred<void>();
      const paths: string[] = [];
      const target = await start([
        getRow('/wait', async (request) => {
          paths.push('/wait');
          started.resolve();
          await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
          return json('too late');
        }),
        getRow('/next', () => {
          paths.push('/next');
          return json('next');
        }),
      ]);
      const both = exchangeRaw(target, [requestText('GET', '/wait') + requestText('GET', '/next')]);
      await started.promise;
      expect(await both).toEqual({ text: '', closed: true });
      expect(paths).toEqual(['/wait']);
    },
  );

  it.runIf(SERVER_KIND === 'node')('keeps the order of answers when a later one is ready first', async () => {
    const release = createDeferred<void>();
    const target = await start([
      getRow('/wait', async () => {
        await release.promise;
        return json('first');
      }),
      getRow('/next', () => {
        release.resolve();
        return json('second');
      }),
    ]);
    const heard = await exchangeRaw(
      target,
      [requestText('GET', '/wait') + requestText('GET', '/next')],
      (text) => parseAnswers(text).length === 2,
    );
    expect(parseAnswers(heard.text).map(({ body }) => body)).toEqual(['"first"', '"second"']);
  });

  it('serves a request that arrives in two pieces', async () => {
    const target = await start([hello]);
    const text = requestText('GET', '/hello');
    const pieces = [2, 6, 10, text.length - 3].map((cut) => [text.slice(0, cut), text.slice(cut)]);
    for (const piece of pieces) {
      const heard = await exchangeRaw(target, piece, (so_far) => parseAnswers(so_far).length === 1);
      expect(parseAnswers(heard.text)[0]?.status, piece[0]).toBe(200);
    }
  });

  it('refuses requests whose end is ambiguous, and closes', async () => {
    let ran = 0;
    const count = () => {
      ran += 1;
      return json({});
    };
    const target = await start([getRow('/count', count), postRow('/count', count)]);
    const smuggled = requestText('GET', '/count');
    const faults = [
      'POST /count HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nContent-Length: 4\r\n\r\n',
      'GET /count HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: localhost\r\n\r\n',
      'POST /count HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      'POST /count HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
    ];
    for (const fault of faults) {
      const alone = await exchangeRaw(target, [fault]);
      expect(alone.closed, fault).toBe(true);
      expect(alone.text.startsWith('HTTP/1.1 400 '), fault).toBe(true);
      const followed = await exchangeRaw(target, [fault + smuggled]);
      expect(followed.closed, fault).toBe(true);
      expect(followed.text, fault).not.toContain('HTTP/1.1 200');
    }
    expect(ran).toBe(0);
  });

  it('refuses a request without a Host', async () => {
    let ran = 0;
    const target = await start([
      getRow('/count', () => {
        ran += 1;
        return json({});
      }),
    ]);
    const socket = connect(target.port, '127.0.0.1');
    socket.write('GET /count HTTP/1.1\r\nAccept: */*\r\n\r\n');
    const empty = await exchangeRaw(target, ['GET /count HTTP/1.1\r\nHost:\r\n\r\n'], (text) =>
      text.includes('\r\n\r\n'),
    );
    socket.destroy();
    expect(empty.text.startsWith('HTTP/1.1 403 ')).toBe(true);
    expect(ran).toBe(0);
  });

  it('answers OPTIONS with the methods of a path and nothing else', async () => {
    const target = await start([hello, postRow('/hello', () => json('posted'))]);
    const answer = await ask(target, 'OPTIONS', '/hello');
    expect(answer).toMatchObject({ status: 204, body: '', headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
    expect(Object.keys(answer.headers).join()).not.toContain('access-control');
    expect((await ask(target, 'OPTIONS', '/nowhere')).status).toBe(404);
  });

  it('refuses every expectation but 100-continue', async () => {
    const target = await start([hello]);
    const answer = await ask(target, 'GET', '/hello', { headers: { Expect: '200-ok' } });
    expect(answer.status).toBe(417);
    expect(JSON.parse(answer.body).error).toBe('expectation_failed');
  });

  it('answers unknown paths and wrong methods in JSON', async () => {
    const target = await start([
      hello,
      postRow('/hello', () => json({})),
      getRow('/only/:id', () => json({})),
    ]);
    const unknown = await ask(target, 'GET', '/nowhere');
    expect(unknown).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(unknown.body).error).toBe('not_found');
    for (const method of ['DELETE', 'PATCH']) {
      const answer = await ask(target, method, '/hello');
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
      expect(JSON.parse(answer.body).error).toBe('method_not_allowed');
    }
    expect(await ask(target, 'POST', '/only/x')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
  });

  it('decodes each path segment exactly once and keeps slashes inside ids', async () => {
    const target = await start([
      getRow('/fibers', () => json('list')),
      getRow('/fibers/*id', (request) => json(request.params.id)),
    ]);
    const cases: [string, string][] = [
      ['/fibers/a', 'a'],
      ['/fibers/work/loader', 'work/loader'],
      ['/fibers/work%2Floader', 'work/loader'],
      ['/fibers/100%25%2525', '100%%25'],
      ['/fibers/caf%C3%A9/x%20y', 'café/x y'],
      ['/fibers/a+b', 'a+b'],
      ['/%66ibers/a', 'a'],
      ['/%66ibers', 'list'],
    ];
    for (const [path, id] of cases) {
      const answer = await ask(target, 'GET', path);
      expect(JSON.parse(Buffer.from(answer.body, 'latin1').toString()), path).toBe(id);
    }
    for (const path of ['/fibers/', '/fibers/a//b', '/fibers/a/', '//fibers', '/FIBERS']) {
      expect((await ask(target, 'GET', path)).status, path).toBe(404);
    }
    const refused = ['%', '%zz', '%ff', 'a%00b', '..', '../x', 'a/%2e%2e/b', 'a%2F..%2Fb', '.', 'a/%2E', 'é'];
    for (const part of refused) {
      const answer = await ask(target, 'GET', `/fibers/${part}`);
      expect(answer.status, part).toBe(400);
      expect(JSON.parse(answer.body).error).toBe('invalid_request');
    }
  });

  it('parses the query with the schema of the row', async () => {
    const query = z.object({ n: z.coerce.number().int(), word: z.string().optional() });
    const target = await start([getRow('/q', (request) => json(request.query), { query })]);
    expect(JSON.parse((await ask(target, 'GET', '/q?n=4&word=a+b%26c&more=1')).body)).toEqual({
      n: 4,
      word: 'a b&c',
    });
    const wrong = await ask(target, 'GET', '/q?n=four');
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.body)).toMatchObject({ error: 'invalid_request', issues: [{ path: 'n' }] });
    for (const text of ['n=1&n=2', 'n=%zz', 'n=1&word=%ff']) {
      expect((await ask(target, 'GET', `/q?${text}`)).status, text).toBe(400);
    }
  });
});
