import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, it } from 'vitest';
import { until } from '../kit/until.ts';
import { ask, requestText } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.server.stop();
  served = undefined;
});

it('does not count requests of disconnected clients as waiting, nor those behind them', async () => {
  let asked = 0;
  let gone = 0;
  const wait = getRow('/wait', (request) => {
    asked += 1;
    return new Promise((resolve) => {
      request.signal.addEventListener('abort', () => {
        gone += 1;
        resolve(json('late'));
      });
    });
  });
  served = await serve([wait, getRow('/ok', () => json('ok'))], { limits: { pending_requests: 1 } });
  for (let clients = 1; clients <= 3; clients += 1) {
    const before = asked;
    const socket = connect(served.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(requestText('GET', '/wait') + requestText('GET', '/ok').repeat(20));
    await until('the request', () => asked > before);
    socket.resetAndDestroy();
    await closed;
    await until('the end of the request', () => gone === asked);
  }
  await until('room for a request', async () => (await ask(served!, 'GET', '/ok')).status === 200);
});
