import { afterEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import { DISPATCHED, REFUSED } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
afterEach(() => served.stop());

const KEY = { 'Idempotency-Key': 'k-1' };
const BODY = { fiber_id: 'work/loader' };
const asked = (name: string) => served.callers.poller.asked.filter((one) => one.name === name);

/** Another daemon over what the first one kept. */
async function restart(): Promise<void> {
  const { kept } = served.callers.poller;
  await served.stop();
  served = await serveRoutes();
  for (const [id, one] of kept) served.callers.poller.kept.set(id, one);
}

describe('a write with the header Idempotency-Key', () => {
  it('[WPL-1] [WPL-3] is carried out once, and a repeat has the first answer, also of another daemon', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    served.callers.poller.answers.lifecycle = () => ({ status: 0, text: 'Paused.\n', error: null });
    const pause = { fiber: 'work/loader', action: 'pause' };
    const first = await served.post('/api/v1/dispatch', BODY, KEY);
    const paused = await served.post('/api/v1/lifecycle', pause, KEY);
    expect([first.status, paused.status]).toEqual([200, 200]);
    expect(asked('dispatch')).toMatchObject([{ input: { message_id: 'k-1' } }]);
    for (const times of [2, 0]) {
      expect((await served.post('/api/v1/dispatch', BODY, KEY)).json).toEqual(first.json);
      expect((await served.post('/api/v1/lifecycle', pause, KEY)).body).toBe(paused.body);
      expect(asked('dispatch').length + asked('lifecycle').length).toBe(times);
      if (times > 0) await restart();
    }
  });

  it('[WPL-1] shares the work of the same one that is under way', async () => {
    served = await serveRoutes();
    const start = createDeferred<typeof DISPATCHED>();
    served.callers.poller.answers.dispatch = () => start.promise;
    const both = [1, 2].map(() => served.post('/api/v1/dispatch', BODY, KEY));
    start.resolve(DISPATCHED);
    const [one, two] = await Promise.all(both);
    expect(two?.json).toEqual(one?.json);
    expect(asked('dispatch')).toHaveLength(1);
  });

  it('[WPL-1] is carried out each time without an id, and as a rehearsal', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    for (const headers of [{}, {}]) await served.post('/api/v1/dispatch', BODY, headers);
    for (const body of [1, 2].map(() => ({ ...BODY, dry_run: true })))
      await served.post('/api/v1/dispatch', body, KEY);
    expect(asked('dispatch')).toHaveLength(4);
    expect(asked('begin_write')).toEqual([]);
  });

  it('[WPL-1] may be tried again where it was refused', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.dispatch = () => REFUSED;
    expect((await served.post('/api/v1/dispatch', BODY, KEY)).status).toBe(422);
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    expect((await served.post('/api/v1/dispatch', BODY, KEY)).status).toBe(200);
  });

  it('[WPL-1] [WPL-4] is not done again where the daemon ended in the middle, but for what is known to take effect once', async () => {
    served = await serveRoutes();
    const dies = () => {
      throw new CodedError('component_unavailable', 'the poller is starting again');
    };
    served.callers.poller.answers.kill = dies;
    served.callers.poller.answers.dispatch = dies;
    for (const path of ['kill', 'dispatch'])
      expect((await served.post(`/api/v1/${path}`, BODY, KEY)).status).toBe(503);
    await restart();
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    const killed = await served.post('/api/v1/kill', BODY, KEY);
    expect(killed).toMatchObject({ status: 504, json: { error: 'outcome_unknown' } });
    expect(asked('kill')).toEqual([]);
    expect((await served.post('/api/v1/dispatch', BODY, KEY)).status).toBe(200);
    expect(asked('dispatch')).toMatchObject([{ input: { message_id: 'k-1', is_repeat: true } }]);
  });

  it.each([
    ['on a full disk', 'storage_unavailable'],
    ['while the poller is away', 'component_unavailable'],
  ] as const)('[WPL-4] is done although nothing can be kept of it, as %s', async (_, code) => {
    served = await serveRoutes();
    served.callers.poller.answers.begin_write = () => {
      throw new CodedError(code, 'nothing is kept');
    };
    served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: 'work/loader', mux_session: 'm' });
    expect((await served.post('/api/v1/kill', BODY, KEY)).status).toBe(200);
  });

  it('[ERR-13] is refused under the id of another one, and under an id that is none', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    await served.post('/api/v1/dispatch', BODY, KEY);
    const other = await served.post('/api/v1/dispatch', { fiber_id: 'other' }, KEY);
    expect(other).toMatchObject({ status: 409, json: { error: 'message_id_conflict' } });
    const none = await served.post('/api/v1/dispatch', BODY, { 'Idempotency-Key': 'a b' });
    expect(none).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
  });

  it('[WPL-10] gives no text a second time under the id of a delivery, also of another daemon', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.dispatch = () => DISPATCHED;
    const body = { ...BODY, text: 'Look at the last commit.', message_id: 'm-1' };
    const first = await served.post('/api/v1/deliver', body);
    await restart();
    expect((await served.post('/api/v1/deliver', body)).json).toEqual(first.json);
    expect(asked('dispatch')).toEqual([]);
  });
});
