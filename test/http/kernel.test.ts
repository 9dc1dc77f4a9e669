import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createDeferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import type { Reply, Row } from '../../src/http/row.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { getRow, postRow, type Served, serve } from './served.ts';

let served: Served | null = null;

afterEach(async () => {
  await served?.server.stop();
  served = null;
});

async function start(rows: Row[], options: Parameters<typeof serve>[1] = {}): Promise<Served> {
  served = await serve(rows, options);
  return served;
}

function json(value: unknown, rest: Partial<Reply> = {}): Reply {
  return { status: 200, json: value, ...rest } as Reply;
}

const hello = getRow('/hello', () => json({ hello: 'world' }));

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

  it('sends a large body whole to a reader that dawdles', async () => {
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

describe('handlers that fail', () => {
  it('turns any throw into 500, tells the log and nobody else, and keeps serving', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      component: 'http',
      level: 'error',
      destination: { write: (line) => lines.push(line) },
    });
    const secret = new Error('password is hunter2');
    const target = await start(
      [
        hello,
        getRow('/now', () => {
          throw secret;
        }),
        getRow('/later', async () => {
          throw secret;
        }),
        getRow('/odd', () => ({ status: 200, json: undefined })),
        getRow('/status', () => ({ status: 1_000, json: {} })),
        getRow('/coded', () => {
          throw new CodedError('some_new_fault', 'password is hunter2');
        }),
        postRow('/body', () => {
          throw secret;
        }),
      ],
      { logger },
    );
    const calls: [string, string][] = [
      ['GET', '/now'],
      ['GET', '/later'],
      ['GET', '/odd'],
      ['GET', '/status'],
      ['GET', '/coded'],
      ['POST', '/body'],
    ];
    for (const [method, path] of calls) {
      const answer = await ask(target, method, path);
      expect(answer.status, path).toBe(500);
      const body = JSON.parse(answer.body);
      expect(body.error).toBe('internal');
      expect(body.message).toContain(answer.headers['x-request-id']);
      expect(answer.body).not.toContain('hunter2');
    }
    expect(lines).toHaveLength(calls.length);
    expect(lines[0]).toContain('hunter2');
    expect((await ask(target, 'GET', '/hello')).status).toBe(200);
  });

  it('shows a coded error with its status, sentence and details', async () => {
    const target = await start([
      getRow('/conflict', () => {
        throw new CodedError('conflict', 'The file changed; read it again.', {
          details: { conflict: true, digest: 'abc', error: 'hidden' },
        });
      }),
    ]);
    const answer = await ask(target, 'GET', '/conflict');
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.body)).toEqual({
      error: 'conflict',
      message: 'The file changed; read it again.',
      conflict: true,
      digest: 'abc',
    });
  });

  it('survives a client that goes away, and aborts the signal of its handler', async () => {
    const started = createDeferred<AbortSignal>();
    const release = createDeferred<void>();
    const target = await start([
      hello,
      getRow('/slow', async (request) => {
        started.resolve(request.signal);
        await release.promise;
        return json({});
      }),
    ]);
    const socket = connect(target.port, '127.0.0.1');
    socket.write(requestText('GET', '/slow'));
    const signal = await started.promise;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    socket.destroy();
    await aborted;
    release.resolve();
    expect((await ask(target, 'GET', '/hello')).status).toBe(200);
  });
});

describe('request lines and heads', () => {
  it('answers pipelined requests in order', async () => {
    const target = await start([getRow('/n/:n', (request) => json(request.params.n))]);
    const texts = Array.from({ length: 20 }, (_, index) => requestText('GET', `/n/${index}`));
    const heard = await exchangeRaw(target, [texts.join('')], (text) => parseAnswers(text).length === 20);
    expect(parseAnswers(heard.text).map((answer) => JSON.parse(answer.body))).toEqual(
      Array.from({ length: 20 }, (_, index) => String(index)),
    );
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

  it('refuses what would make two readers disagree about where a request ends, and closes', async () => {
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

  it('gives a request without a Host to nobody', async () => {
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

  it('answers unknown paths and wrong methods in JSON', async () => {
    const target = await start([
      hello,
      postRow('/hello', () => json({})),
      getRow('/only/:id', () => json({})),
    ]);
    const unknown = await ask(target, 'GET', '/nowhere');
    expect(unknown).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(unknown.body).error).toBe('not_found');
    for (const method of ['DELETE', 'OPTIONS', 'BREW']) {
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

describe('request bodies', () => {
  const schema = z.object({ name: z.string().optional(), deep: z.object({ n: z.number() }).optional() });

  function echo(rest: Partial<Row> = {}): Row {
    return postRow('/echo', (request) => json(request.body), { body: schema, ...rest });
  }

  it('accepts JSON in one piece, in many pieces and chunked', async () => {
    const target = await start([echo()]);
    const body = '{"name":"ünï"}';
    const whole = await ask(target, 'POST', '/echo', { body });
    expect(Buffer.from(whole.body, 'latin1').toString()).toBe(body);
    const text = Buffer.from(requestText('POST', '/echo', {}, body));
    const pieces = [text.subarray(0, -9), text.subarray(-9, -8), text.subarray(-8)];
    const split = await exchangeRaw(target, pieces, (so_far) => parseAnswers(so_far).length === 1);
    expect(Buffer.from(parseAnswers(split.text)[0]!.body, 'latin1').toString()).toBe(body);
    const chunked =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const heard = await exchangeRaw(
      target,
      [chunked, '8\r\n{"name":\r\n', '4\r\n"x"}\r\n', '0\r\n\r\n'],
      (so_far) => parseAnswers(so_far).length === 1,
    );
    expect(parseAnswers(heard.text)[0]!.body).toBe('{"name":"x"}');
  });

  it('reads no body as an empty object', async () => {
    const target = await start([echo()]);
    const text = 'POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const heard = await exchangeRaw(target, [text], (so_far) => parseAnswers(so_far).length === 1);
    expect(parseAnswers(heard.text)[0]).toMatchObject({ status: 200, body: '{}' });
  });

  it('tells a body that is not JSON from one that has the wrong shape', async () => {
    const target = await start([echo()]);
    for (const body of ['{"name":', 'name=x', ' ']) {
      const answer = await ask(target, 'POST', '/echo', { body });
      expect(answer.status, body).toBe(400);
      expect(JSON.parse(answer.body).error).toBe('invalid_json');
    }
    const answer = await ask(target, 'POST', '/echo', { body: '{"name":1,"deep":{"n":"x"}}' });
    expect(answer.status).toBe(400);
    const { error, issues, message } = JSON.parse(answer.body);
    expect(error).toBe('invalid_request');
    expect(issues.map((issue: { path: string }) => issue.path)).toEqual(['name', 'deep.n']);
    expect(message).toContain('name');
  });

  it('refuses bytes that are not UTF-8', async () => {
    const target = await start([echo()]);
    const head =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n';
    const bytes = Buffer.concat([Buffer.from(`${head}{"name":"`), Buffer.from([0xff]), Buffer.from('"}')]);
    const heard = await exchangeRaw(target, [bytes], (so_far) => parseAnswers(so_far).length === 1);
    expect(parseAnswers(heard.text)[0]).toMatchObject({ status: 400 });
    expect(heard.text).toContain('invalid_json');
  });

  it('answers 400 to a body nested deeper than the stack', async () => {
    const target = await start([
      postRow('/deep', (request) => json(request.body), { body: z.json(), body_limit: 4_000_000 }),
    ]);
    const answer = await ask(target, 'POST', '/deep', { body: '['.repeat(200_000) + ']'.repeat(200_000) });
    expect(answer.status).toBe(400);
  });

  it('refuses every media type but JSON before the handler runs', async () => {
    let ran = 0;
    const target = await start([
      postRow('/write', () => {
        ran += 1;
        return json({});
      }),
    ]);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'multipart/form-data',
    ]) {
      for (const body of ['{}', '']) {
        const answer = await ask(target, 'POST', '/write', { body, headers: { 'Content-Type': type } });
        expect(answer.status, `${type} ${body}`).toBe(415);
        expect(JSON.parse(answer.body).error).toBe('unsupported_media_type');
      }
    }
    const bare = 'POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';
    const heard = await exchangeRaw(target, [bare], (so_far) => parseAnswers(so_far).length === 1);
    expect(parseAnswers(heard.text)[0]!.status).toBe(415);
    expect(ran).toBe(0);
    const typed = await ask(target, 'POST', '/write', {
      body: '{}',
      headers: { 'Content-Type': 'Application/JSON; charset=utf-8' },
    });
    expect(typed.status).toBe(200);
  });

  it('answers 413 to a body announced too large, and in the middle of one that grows too large', async () => {
    let ran = 0;
    const target = await start([
      postRow(
        '/write',
        () => {
          ran += 1;
          return json({});
        },
        { body_limit: 10_000 },
      ),
    ]);
    const announced = requestText('POST', '/write', {}, 'x'.repeat(3_000_000));
    const early = await exchangeRaw(target, [announced]);
    expect(early.text.startsWith('HTTP/1.1 413 ')).toBe(true);
    expect(early.text).toContain('body_too_large');
    const head =
      'POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `fa0\r\n${'x'.repeat(4_000)}\r\n`;
    const grown = await exchangeRaw(target, [head, chunk, chunk, chunk]);
    expect(grown).toMatchObject({ closed: true });
    expect(grown.text.startsWith('HTTP/1.1 413 ')).toBe(true);
    expect(grown.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(ran).toBe(0);
  });

  it('runs nothing for an upload that stops half-way', async () => {
    let ran = 0;
    const target = await start([
      hello,
      postRow('/write', () => {
        ran += 1;
        return json({});
      }),
    ]);
    const socket = connect(target.port, '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.write(requestText('POST', '/write', { 'Content-Length': '50' }, '{"half":'), () => resolve());
    });
    await ask(target, 'GET', '/hello');
    socket.destroy();
    expect((await ask(target, 'GET', '/hello')).status).toBe(200);
    expect(ran).toBe(0);
  });
});

describe('gates before the handler', () => {
  it('asks the access ladder on every request, known path or not', async () => {
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

  it('holds rows that need a ready daemon and serves the rest', async () => {
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

  it('bounds how many requests wait at one time', async () => {
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
  it('has one line a request at debug, without the query, under the id of the answer', async () => {
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
