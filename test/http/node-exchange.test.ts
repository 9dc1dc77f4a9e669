import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { MemoryBudget } from '../../src/http/memory-budget.ts';
import { NodeExchange } from '../../src/http/node-exchange.ts';
import { OpenStreams } from '../../src/http/open-streams.ts';
import { prepareReply } from '../../src/http/prepared-reply.ts';
import { UnsentAnswers } from '../../src/http/unsent-answers.ts';
import { pause, until } from '../kit/until.ts';

/** A connection whose writes wait until a test lets them go on. */
class SlowSocket extends Socket {
  written = '';
  readonly waiting: (() => void)[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written += chunk.toString('latin1');
    this.waiting.push(done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk))), 'latin1', done);
  }
}

it('cuts off a client that does not take the end of an answer without a length', async () => {
  const clock = new FakeClock();
  const socket = new SlowSocket();
  const request = new IncomingMessage(socket);
  request.method = 'GET';
  Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 });
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  const unsent = {
    read_ahead: new MemoryBudget(0),
    answers: new UnsentAnswers(0),
    streams: new OpenStreams(clock, 1),
    relays: new OpenStreams(clock, 1),
    ...{ clock, stall_ms: 30_000 },
  };
  let settled = 0;
  const exchange = new NodeExchange(request, response, { nextId: () => '1', unsent }, () => (settled += 1));
  const stream = (async function* () {
    yield Buffer.from('chunk');
  })();
  const reply = prepareReply(
    { status: 200, stream, content_type: 'text/plain' },
    { id: '1', reads: true, headers: {}, row: {} },
  );
  exchange.answer(reply, { head: false, close: false });
  await until('the chunk', () => socket.written.includes('chunk'));
  clock.advance(29_000);
  await until('the end to be written', () => {
    if (socket.written.endsWith('0\r\n\r\n')) return true;
    socket.waiting.shift()?.();
    return false;
  });
  await pause(20);
  clock.advance(29_000);
  await pause(20);
  expect([settled, socket.destroyed]).toEqual([0, false]);
  clock.advance(1_000);
  await until('the end of the connection', () => socket.destroyed);
  response.emit('close');
  expect(settled).toBe(1);
});
