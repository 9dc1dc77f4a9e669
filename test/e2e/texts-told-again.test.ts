import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { launchesOf } from '../kit/launches.ts';

vi.setConfig({ testTimeout: 60_000 });

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare: (home) => {
      for (const id of ['delivered', 'dispatched']) home.fiber(id, { front: { status: 'open' } });
    },
  });
});
afterAll(() => daemon?.dispose());

it('[WPL-1] [WPL-10] give no text a second time under their id, although the daemon was killed and its worker is over', async () => {
  const header = { 'idempotency-key': 'k-1' };
  const ask = async () => [
    await daemon.http.post<Json>('/deliver', { fiber_id: 'delivered', text: 'Once.', message_id: 'm-1' }),
    await daemon.http.post<Json>('/dispatch', { fiber_id: 'dispatched', user_message: 'Once.' }, header),
  ];
  const first = await ask();
  expect(first.map(({ status, body }) => [status, body.dispatched])).toEqual([
    [200, true],
    [200, true],
  ]);
  for (const id of ['delivered', 'dispatched']) expect((await daemon.kill(id)).status).toBe(200);
  await daemon.kill9();
  await daemon.start();
  const again = await ask();
  expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
  for (const id of ['delivered', 'dispatched']) expect(launchesOf(daemon.home.data, id)).toHaveLength(1);
  const other = await daemon.http.post<Json>('/dispatch', { fiber_id: 'delivered' }, header);
  expect(other).toMatchObject({ status: 409, body: { error: 'message_id_conflict' } });
});
