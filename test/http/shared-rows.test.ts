import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createDeferred, type Deferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import type { Reply } from '../../src/http/reply.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import type { Row } from '../../src/http/row.ts';
import { until } from '../kit/until.ts';
import { ask, requestText } from './raw-exchange.ts';
import { getRow, json, postRow, type Served, serve } from './served.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.server.stop();
  served = undefined;
});

type Run = { view: RequestView; end: Deferred<Reply> };

/** A shared row whose every run is ended by the test. */
function sharedRow(path = '/read') {
  const runs: Run[] = [];
  const row = getRow(
    path,
    (view) => {
      const end = createDeferred<Reply>();
      runs.push({ view, end });
      return end.promise;
    },
    { shared: true, state: 'ready' },
  );
  return { row, runs };
}

/** Begins a run, has these ask meanwhile, and answers what they get when the run after it ends so. */
async function askTogether(
  runs: Run[],
  asks: { method?: string; headers?: Record<string, string> }[],
  how: (end: Deferred<Reply>) => void,
) {
  const first = ask(served!, 'GET', '/read');
  await until('the first run', () => runs.length === 1);
  const answers = asks.map(({ method = 'GET', headers = {} }) => ask(served!, method, '/read', { headers }));
  await arrived(asks.length + 1);
  runs[0]!.end.resolve(json('the first'));
  expect((await first).body).toBe('"the first"');
  await until('the second run', () => runs.length === 2);
  how(runs[1]!.end);
  return Promise.all(answers);
}

/** Requests that the kernel has let through to their rows: it asks for each whether the daemon is ready. */
let asked = 0;
async function arrived(count: number): Promise<void> {
  await until(`${count} requests`, () => asked === count);
}

async function start(rows: Row[]): Promise<void> {
  asked = 0;
  const booting = () => {
    asked += 1;
    return null;
  };
  served = await serve(rows, { booting });
}

describe('a row with shared answers', () => {
  it('runs once for all requests that arrived before it began, and gives each its own request id', async () => {
    const { row, runs } = sharedRow();
    await start([row]);
    const asks = Array.from({ length: 20 }, () => ({}));
    const answers = await askTogether(runs, asks, (end) => end.resolve(json({ run: 2 })));
    expect(runs).toHaveLength(2);
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['{"run":2}']));
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
    expect(answers[0]!.headers['content-type']).toBe('application/json');
  });

  it('answers each according to its own headers: 304, a range, without a body, compressed', async () => {
    const { row, runs } = sharedRow();
    await start([row]);
    const text = Buffer.from(JSON.stringify({ words: 'word '.repeat(1_000) }));
    const answers = await askTogether(
      runs,
      [
        { headers: { 'If-None-Match': '"a"' } },
        { headers: { 'Accept-Encoding': 'br' } },
        { method: 'HEAD' },
        {},
      ],
      (end) => end.resolve({ status: 200, bytes: text, content_type: 'application/json', etag: '"a"' }),
    );
    expect(answers.map(({ status }) => status)).toEqual([304, 200, 200, 200]);
    expect(brotliDecompressSync(Buffer.from(answers[1]!.body, 'latin1'))).toEqual(text);
    expect(answers[2]!.body).toBe('');
    expect(answers[3]!.body).toBe(text.toString());
    expect(runs).toHaveLength(2);
  });

  it('reads a content separately for each request', async () => {
    const { row, runs } = sharedRow();
    await start([row]);
    const bytes = Buffer.from('0123456789');
    const content = {
      size: bytes.length,
      async *read(from: number, end: number) {
        yield bytes.subarray(from, end);
      },
    };
    const answers = await askTogether(
      runs,
      [{ headers: { Range: 'bytes=2-4' } }, {}, { headers: { Range: 'bytes=99-' } }],
      (end) => end.resolve({ status: 200, content, content_type: 'text/plain' }),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [206, '234'],
      [200, '0123456789'],
      [416, ''],
    ]);
  });

  it('fails alike for all', async () => {
    const { row, runs } = sharedRow();
    await start([row]);
    const answers = await askTogether(runs, [{}, {}], (end) =>
      end.reject(new CodedError('file_not_found', 'there is no file')),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers.map(({ body }) => JSON.parse(body).error)).toEqual(['file_not_found', 'file_not_found']);
  });

  it('shows its handler no header of any of them, and keeps different requests apart', async () => {
    const row = getRow('/read/:what', ({ params, headers }) => json({ params, headers }), { shared: true });
    await start([row]);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((what) => ask(served!, 'GET', `/read/${what}`, { headers: { 'X-Own': what } })),
    );
    expect(answers.map(({ body }) => JSON.parse(body))).toEqual(
      ['a', 'b', 'c'].map((what) => ({ params: { what }, headers: {} })),
    );
  });

  it('is cancelled when all waiting callers have left', async () => {
    const { row, runs } = sharedRow();
    await start([row]);
    const sockets = [0, 1].map(() => {
      const socket = connect(served!.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(requestText('GET', '/read'));
      return socket;
    });
    await arrived(2);
    await until('a run', () => runs.length > 0);
    const { signal } = runs[0]!.view;
    for (const socket of sockets) {
      const closed = once(socket, 'close');
      socket.resetAndDestroy();
      await closed;
    }
    await until('the end of the run', () => signal.aborted);
    for (const { end } of runs) end.resolve(json('late'));
  });

  it('cannot be a row that has an effect', async () => {
    const write = postRow('/write', () => json('written'), { shared: true });
    await expect(serve([write])).rejects.toThrow('POST /write may have an effect');
  });
});
