import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { until } from '../kit/until.ts';
import { exchangeRaw, parseAnswers } from './raw-exchange.ts';
import { json, postRow, type Served, serve } from './served.ts';

let served: Served | null = null;

afterEach(async () => {
  await served?.server.stop();
  served = null;
});

const head = (length: number): string =>
  `POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe('a slow body', () => {
  it('is refused with 408 at its timeout, and never handled', async () => {
    let handled = 0;
    served = await serve([
      postRow(
        '/act',
        () => {
          handled += 1;
          return json('done');
        },
        { body_timeout_ms: 1_500 },
      ),
    ]);
    const heard = await exchangeRaw(served, [head(100), '{"a":']);
    const [answer] = parseAnswers(heard.text);
    expect(answer?.status).toBe(408);
    expect(JSON.parse(answer!.body)).toEqual({
      error: 'request_timeout',
      message: 'The body was not complete within 2 s.',
    });
    expect(heard.closed).toBe(true);
    expect(handled).toBe(0);
  });

  it.each([
    { hours: 3, rest: '}', status: 200 },
    { hours: -3, rest: '', status: 408 },
  ])('has its time although the clock is set by $hours h', async ({ hours, rest, status }) => {
    const clock = new FakeClock();
    const every = vi.spyOn(clock, 'every');
    served = await serve([postRow('/act', () => json('done'), { body_timeout_ms: 5_000 })], { clock });
    const socket = connect(served.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk) => {
      heard += chunk.toString();
    });
    try {
      socket.write(`${head(2)}{`);
      await until('the request', () => every.mock.calls.some(([ms]) => ms === 1_000));
      clock.jumpTo(clock.now() + hours * 3_600_000);
      clock.advance(4_000);
      socket.write(rest);
      if (rest === '') clock.advance(2_000);
      await until('the answer', () => heard !== '');
      expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    } finally {
      socket.destroy();
    }
  });

  it('[LIM-6] is accepted after the server’s default timeout if its row allows it', async () => {
    served = await serve([
      postRow('/act', (request) => json((request.body as Uint8Array).length), {
        body: 'bytes',
        body_timeout_ms: 120_000,
      }),
    ]);
    const socket = connect(served.port, '127.0.0.1');
    const answer = new Promise<string>((resolve, reject) => {
      socket.on('data', (chunk) => resolve(chunk.toString()));
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('closed without an answer')));
    });
    socket.write(head(15));
    let sent = 0;
    const drip = setInterval(() => {
      socket.write('x');
      sent += 1;
      if (sent === 15) clearInterval(drip);
    }, 1_000);
    try {
      expect(await answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n15$/s);
    } finally {
      clearInterval(drip);
      socket.destroy();
    }
  }, 30_000);
});
