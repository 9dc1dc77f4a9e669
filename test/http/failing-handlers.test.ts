import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import { ask, requestText } from './raw-exchange.ts';
import { getRow, json, postRow } from './served.ts';
import { hello, start } from './start.ts';

describe('handlers that fail', () => {
  it('turns any throw into 500, logs the reason without showing it to the client, and keeps serving', async () => {
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

  it('shows a coded error with its status, message and details', async () => {
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

  it('survives a client that disconnects, and aborts the signal of its handler', async () => {
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
