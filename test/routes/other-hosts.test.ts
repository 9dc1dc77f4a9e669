import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { describeApi } from '../../src/routes/api-description.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes({ remotes: ['host-b'] });
});
afterEach(() => served.stop());

/** The rows that take an origin, as the description of the API tells. */
async function rowsOfOrigins(): Promise<Row[]> {
  const { paths } = await describeApi(served.rows, '');
  return served.rows.filter((row) => {
    const operation = paths[row.path.replaceAll(/[:*](\w+)/g, '{$1}')]![row.method.toLowerCase()]!;
    return JSON.stringify([operation.parameters, operation.requestBody]).includes('origin');
  });
}

function send(row: Row, origin: string, given = true) {
  const { params = {}, query = '', body } = row.example ?? {};
  const path = row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => params[name] ?? 'some');
  if (row.method === 'GET') return served.get(`${path}?${given ? query : 'x=1'}&origin=${origin}`);
  const headers = { 'Content-Type': 'application/json' };
  return served.post(path, { ...(given ? (body as object) : {}), origin }, headers);
}

function asked(): string[] {
  const { poller, ledgers, fleet } = served.callers;
  return [...poller.asked, ...ledgers.asked, ...fleet.asked].map(({ name }) => name);
}

const notForwarded = {
  status: 501,
  error: 'not_forwarded',
  message: expect.stringContaining('ask the daemon of host-b'),
  origin: 'host-b',
};

describe('a request for a configured remote', () => {
  it('[RTE-2] [RTE-3] [RTE-5] is refused by every route with an origin, before any call or effect', async () => {
    const rows = await rowsOfOrigins();
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) {
      const { status, json } = await send(row, 'host-b');
      expect({ row: row.path, status, ...json }).toMatchObject({ row: row.path, ...notForwarded });
    }
    expect(asked()).toEqual([]);
  });

  it('[RTE-2] [RTE-3] is refused even if the rest of it is invalid', async () => {
    for (const row of await rowsOfOrigins()) {
      // Only the pool reads the origin in a body of this size, and checks the body on the way.
      if (row.body === 'bytes') continue;
      const { status, json } = await send(row, 'host-b', false);
      expect({ row: row.path, status, ...json }).toMatchObject({ row: row.path, ...notForwarded });
    }
  });

  it('[RTE-2] is not carried out while the remotes are unknown', async () => {
    await served.stop();
    served = await serveRoutes({ remotes: null });
    const refused = await served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-b' });
    expect(refused).toMatchObject({
      status: 503,
      json: { error: 'component_unavailable', component: 'fleet' },
    });
    expect(asked()).toEqual([]);
  });

  it('[RTE-2] is refused by the table that the fleet published last, also while the fleet is down', async () => {
    served.callers.fleet.up = false;
    const kill = () => served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-b' });
    expect((await kill()).status).toBe(501);
    served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: 'a', mux_session: 'a-x-svc' });
    served.callers.fleet.publish('host-c');
    expect((await kill()).status).toBe(200);
  });

  it('[RTE-2] [RTE-3] differs from one with an unknown origin', async () => {
    served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: 'a', mux_session: 'a-x-svc' });
    expect(await served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-z' })).toMatchObject({
      status: 200,
    });
    expect(await served.get('/api/v1/agents?origin=host-z')).toMatchObject({
      status: 404,
      json: { error: 'unknown_host' },
    });
    for (const path of ['sessions', 'commits', 'sent-files/all'])
      expect(await served.get(`/api/v1/${path}?origin=host-z`)).toMatchObject({
        status: 404,
        json: { error: 'unknown_host' },
      });
  });
});
