import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { describeApi } from '../../src/routes/api-description.ts';
import { ENDPOINT_NOTES } from '../../src/routes/endpoint-notes.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
  served.callers.fleet.answers.state = () => ({ remotes: [{ name: 'host-b', state: 'unpolled' }] });
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

function send(row: Row, origin: string) {
  const { params = {}, query = '', body } = ENDPOINT_NOTES[`${row.method} ${row.path}`]?.example ?? {};
  const path = row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => params[name] ?? 'some');
  if (row.method === 'GET') return served.get(`${path}?${query}&origin=${origin}`);
  const headers = { 'Content-Type': 'application/json' };
  return served.post(path, { ...(body as object), origin }, headers);
}

function asked(): string[] {
  const { poller, ledgers } = served.callers;
  return [...poller.asked, ...ledgers.asked].map(({ name }) => name);
}

describe('a request that is meant for a configured remote', () => {
  it('[RTE-2] [RTE-3] is refused by every route that takes an origin, before anything is asked or done', async () => {
    const rows = await rowsOfOrigins();
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) {
      const { status, json } = await send(row, 'host-b');
      expect({ row: row.path, status, ...json }).toMatchObject({
        row: row.path,
        status: 501,
        error: 'not_forwarded',
        message: expect.stringContaining('ask the daemon of host-b'),
        origin: 'host-b',
      });
    }
    expect(asked()).toEqual([]);
  });

  it('[RTE-2] is not carried out either while nobody can say which remotes there are', async () => {
    served.callers.fleet.up = false;
    const refused = await served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-b' });
    expect(refused).toMatchObject({ status: 503, json: { error: 'component_unavailable' } });
    expect(asked()).toEqual([]);
  });

  it('[RTE-2] [RTE-3] is another matter than an origin that names nothing', async () => {
    served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: 'a', mux_session: 'a-x-svc' });
    expect(await served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-z' })).toMatchObject({
      status: 200,
    });
    expect(await served.get('/api/v1/agents?origin=host-z')).toMatchObject({
      status: 404,
      json: { error: 'unknown_host' },
    });
  });
});
