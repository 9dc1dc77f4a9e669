import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import type { HttpLimits } from '../../src/http/server.ts';
import { pause, until } from '../kit/until.ts';
import { ask, requestText } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | null = null;
afterEach(async () => {
  await served?.server.stop();
  served = null;
});

/** A source of chunks that a test pushes, and what became of it. */
class PushedSource {
  asked = 0;
  ended = false;
  #chunks: Uint8Array[] = [];
  #more = createDeferred<void>();
  #over = false;

  push(chunk: string | Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk as Uint8Array));
    this.#more.resolve();
  }

  finish(): void {
    this.#over = true;
    this.#more.resolve();
  }

  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    signal.addEventListener('abort', () => this.finish());
    try {
      for (;;) {
        this.asked += 1;
        while (this.#chunks.length === 0 && !this.#over) {
          await this.#more.promise;
          this.#more = createDeferred();
        }
        const chunk = this.#chunks.shift();
        if (chunk === undefined) return;
        yield chunk;
      }
    } finally {
      this.ended = true;
    }
  }
}

/** A server whose `/stream` brings what the test pushes into the source of each request. */
async function start(limits: Partial<HttpLimits> = {}) {
  const sources: PushedSource[] = [];
  const signals: AbortSignal[] = [];
  const row = getRow('/stream', (request) => {
    const source = new PushedSource();
    source.push('first ');
    sources.push(source);
    signals.push(request.signal);
    return { status: 200, stream: source.chunks(request.signal), content_type: 'text/plain' };
  });
  served = await serve([row, getRow('/ok', () => json('ok'))], { limits });
  return { target: served, sources, signals };
}

async function request({ port }: Served): Promise<{ response: IncomingMessage; text: () => string }> {
  const asked = get({ port, path: '/stream', agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  response.on('error', () => undefined);
  response.on('data', (chunk) => {
    text += chunk;
  });
  return { response, text: () => text };
}

describe('an open-ended answer', () => {
  it('is sent in chunks, each when its source has it, and ends when the source does', async () => {
    const { target, sources } = await start();
    const { response, text } = await request(target);
    expect(response.headers).toMatchObject({
      'transfer-encoding': 'chunked',
      'content-type': 'text/plain',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers).not.toHaveProperty('content-length');
    await until('the first chunk', () => text() === 'first ');
    sources[0]!.push('second ');
    await until('the second chunk', () => text() === 'first second ');
    sources[0]!.push('third');
    sources[0]!.finish();
    await once(response, 'end');
    expect([text(), response.complete]).toEqual(['first second third', true]);
    await until('the end of the source', () => sources[0]!.ended);
  });

  it('leaves its connection to the next request', async () => {
    const { target, sources } = await start();
    const socket = connect(target.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(requestText('GET', '/stream'));
    await until('the stream', () => sources.length === 1);
    sources[0]!.finish();
    await until('its end', () => text.endsWith('0\r\n\r\n'));
    socket.write(requestText('GET', '/ok'));
    await until('the next answer', () => text.endsWith('"ok"'));
    socket.destroy();
  });

  it('cancels its source when the client disconnects', async () => {
    const { target, sources, signals } = await start();
    const { response } = await request(target);
    response.destroy();
    await until('the end of the source', () => sources[0]!.ended);
    expect(signals[0]!.aborted).toBe(true);
  });

  it('requests nothing from its source while the client reads nothing, and loses no byte', async () => {
    const { target, sources } = await start();
    const socket = connect(target.port, '127.0.0.1');
    socket.write(requestText('GET', '/stream'));
    await once(socket, 'readable');
    const [source] = sources as [PushedSource];
    const chunk = (nth: number) => Buffer.alloc(100_000, `${nth},`);
    let pushed = 0;
    let asked = -1;
    // Until neither the system nor the server takes more.
    while (asked !== source.asked || source.asked > pushed) {
      asked = source.asked;
      for (let more = 0; more < 20; more += 1) {
        pushed += 1;
        source.push(chunk(pushed));
      }
      await pause(100);
    }
    expect(pushed - source.asked).toBeGreaterThan(10);
    const received: Buffer[] = [];
    socket.on('data', (part: Buffer) => received.push(part));
    source.finish();
    await until('the end', () => String(received.at(-1)).endsWith('0\r\n\r\n'));
    const body = unchunked(Buffer.concat(received));
    const expected = Buffer.concat([
      Buffer.from('first '),
      ...Array.from({ length: pushed }, (_, nth) => chunk(nth + 1)),
    ]);
    expect(body.equals(expected)).toBe(true);
    socket.destroy();
  });

  it('sends everything although the source is idle when the client resumes reading', async () => {
    const { target, sources } = await start();
    const socket = connect(target.port, '127.0.0.1');
    socket.write(requestText('GET', '/stream'));
    await once(socket, 'readable');
    const [source] = sources as [PushedSource];
    const size = 30_000_000;
    source.push(Buffer.alloc(size, 'x'));
    await pause(200);
    let received = 0;
    socket.on('data', (part: Buffer) => {
      received += part.length;
    });
    await until('all of it', () => received > size);
    expect(source.ended).toBe(false);
    socket.destroy();
  });

  it('is closed when its client reads nothing for too long, without affecting others', async () => {
    const { target, sources } = await start({ stall_ms: 300 });
    const socket = connect(target.port, '127.0.0.1');
    socket.write(requestText('GET', '/stream'));
    await once(socket, 'readable');
    sources[0]!.push(Buffer.alloc(50_000_000));
    await until('the end of the source', () => sources[0]!.ended);
    socket.destroy();
    expect((await ask(target, 'GET', '/ok')).status).toBe(200);
  });

  it('stays open while its source is idle, longer than an idle connection', async () => {
    const { target, sources } = await start({ stall_ms: 300 });
    const { response, text } = await request(target);
    await pause(13_000);
    sources[0]!.push('after a rest');
    await until('the chunk', () => text() === 'first after a rest');
    response.destroy();
  });

  it('ends its connection without the last chunk where the source fails', async () => {
    const row = getRow('/stream', () => ({
      status: 200,
      stream: (async function* () {
        yield Buffer.from('first');
        await pause(20);
        throw new Error('the source failed');
      })(),
      content_type: 'text/plain',
    }));
    served = await serve([row]);
    const { response } = await request(served);
    await until('the end of the connection', () => response.destroyed);
    expect(response.complete).toBe(false);
  });

  it('is refused above the limit of streams', async () => {
    const { target, sources } = await start({ streams: 2 });
    const [first] = [await request(target), await request(target)];
    const refused = await ask(target, 'GET', '/stream');
    expect([refused.status, JSON.parse(refused.body).error]).toEqual([503, 'too_many_connections']);
    first.response.destroy();
    await until('room for another', () => sources[0]!.ended);
    const { response } = await request(target);
    expect(response.statusCode).toBe(200);
    response.destroy();
  });

  it('has no body for HEAD, and its source is not started', async () => {
    const { target, sources } = await start();
    const { status, body, headers } = await ask(target, 'HEAD', '/stream');
    expect([status, body, headers['content-length']]).toEqual([200, '', undefined]);
    expect(sources[0]!.asked).toBe(0);
  });

  it('cannot be shared', async () => {
    const row = getRow(
      '/stream',
      () => ({
        status: 200,
        stream: new PushedSource().chunks(new AbortController().signal),
        content_type: 'a/b',
      }),
      { shared: true },
    );
    served = await serve([row]);
    expect((await ask(served, 'GET', '/stream')).status).toBe(500);
  });

  it('ends when the server stops, which does not wait for the source', async () => {
    const stuck = getRow('/stream', () => ({
      status: 200,
      stream: (async function* () {
        yield Buffer.from('first');
        await new Promise(() => undefined);
      })(),
      content_type: 'text/plain',
    }));
    served = await serve([stuck], { limits: { drain_ms: 60_000 } });
    const { response, text } = await request(served);
    await until('the first chunk', () => text() === 'first');
    const end = once(response, 'end');
    await served.server.stop();
    await end;
    expect([text(), response.complete]).toEqual(['first', true]);
  });
});

/** The body of an answer in chunks. */
function unchunked(answer: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = answer.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const size = Number.parseInt(answer.toString('latin1', at, end), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(answer.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
