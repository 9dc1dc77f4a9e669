import { afterEach, beforeEach, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const REPLY = { fibers: [{ fiber_id: 'a', outcome: 'started', message: null }], incidents: [] };
let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

it.each([
  ['resume', 'resume_incident'],
  ['dismiss', 'dismiss_incident'],
] as const)('[P2] POST /incidents/%s hands on one incident, or all of this host', async (path, call) => {
  const { poller } = served.callers;
  poller.answers[call] = () => REPLY;
  for (const body of [{ id: 'i1' }, {}, { origin: 'host-a' }])
    expect(await served.post(`/api/v1/incidents/${path}`, body)).toMatchObject({ status: 200, json: REPLY });
  expect(poller.asked).toEqual([
    { name: call, input: { id: 'i1' } },
    { name: call, input: {} },
    { name: call, input: { origin: 'host-a' } },
  ]);
});

it.each(['resume', 'dismiss'] as const)(
  '[RTE-3] [P2] POST /incidents/%s refuses incidents of another host, and unknown ones',
  async (path) => {
    const { poller } = served.callers;
    const post = (body: unknown) => served.post(`/api/v1/incidents/${path}`, body);
    expect(await post({ origin: 'host-z' })).toMatchObject({ status: 404, json: { error: 'unknown_host' } });
    expect((await post({ id: 5 })).status).toBe(400);
    expect(poller.asked).toEqual([]);
    poller.answers[path === 'resume' ? 'resume_incident' : 'dismiss_incident'] = () => {
      throw new CodedError('not_found', 'there is no incident i9');
    };
    expect(await post({ id: 'i9' })).toMatchObject({ status: 404, json: { error: 'not_found' } });
  },
);
