import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { describeApi } from '../../src/routes/api-description.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

/** The daemon of host-b, which does nothing but say what it was sent. */
let owner: Server;
let sent: { method: string | undefined; url: string | undefined; body: string; hops: unknown }[];
let served: ServedRoutes;
beforeEach(async () => {
  sent = [];
  owner = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      sent.push({ method, url, body, hops: headers['svc-hops'] });
      const text = JSON.stringify({ error: 'not_found', message: 'Nothing of that name is here.' });
      const length = Buffer.byteLength(text);
      response.writeHead(404, {
        'Svc-Host': 'host-b',
        'Content-Type': 'application/json',
        'Content-Length': length,
      });
      response.end(text);
    });
  });
  await new Promise<void>((done) => owner.listen(0, '127.0.0.1', done));
  served = await serveRoutes({ remotes: { 'host-b': urlOfOwner() } });
});
afterEach(async () => {
  await served.stop();
  owner.closeAllConnections();
  owner.close();
});

function urlOfOwner(): string {
  return `http://127.0.0.1:${(owner.address() as AddressInfo).port}`;
}

/** The rows that take an origin, as the description of the API tells. */
async function rowsOfOrigins(): Promise<Row[]> {
  const { paths } = describeApi(served.rows, '');
  return served.rows.filter((row) => {
    const operation = paths[row.path.replaceAll(/[:*](\w+)/g, '{$1}')]![row.method.toLowerCase()]!;
    return JSON.stringify([operation.parameters, operation.requestBody]).includes('origin');
  });
}

/** What a request says, and what is answered to it. */
async function send(row: Row, origin: string, given = true) {
  const { params = {}, query = '', body } = row.example ?? {};
  const path = row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => params[name] ?? 'some');
  if (row.method === 'GET') {
    const url = `${path}?${given ? query : 'x=1'}&origin=${origin}`;
    return { said: { method: 'GET', url, body: '' }, ...(await served.get(url)) };
  }
  const value = { ...(given ? (body as object) : {}), origin };
  const answer = await served.post(path, value, { 'Content-Type': 'application/json' });
  return { said: { method: row.method, url: path, body: JSON.stringify(value) }, ...answer };
}

function asked(): string[] {
  const { poller, ledgers, fleet } = served.callers;
  return [...poller.asked, ...ledgers.asked, ...fleet.asked].map(({ name }) => name);
}

describe('a request that is meant for a configured remote', () => {
  it.each([
    ['as it came', true],
    ['whatever this host thinks of the rest of it', false],
  ])(
    '[RTE-2] [RTE-3] is passed on by every route that takes an origin, %s, and nothing is done here',
    async (_, given) => {
      const rows = (await rowsOfOrigins()).filter(
        ({ routing, begins_here }) => routing !== 'host-scoped' && begins_here?.({}) !== true,
      );
      expect(rows.length).toBeGreaterThan(20);
      for (const row of rows) {
        const { said, status, json, headers } = await send(row, 'host-b', given);
        expect(sent.at(-1)).toEqual({ ...said, hops: 'host-a' });
        expect({ row: row.path, status, ...json }).toMatchObject({
          row: row.path,
          status: 404,
          error: 'not_found',
        });
        expect(headers['svc-host']).toBe('host-b');
      }
      expect([sent.length, asked()]).toEqual([rows.length, []]);
    },
  );

  it('[RTE-5] is refused where it asks for what lies on one machine', async () => {
    const rows = (await rowsOfOrigins()).filter(({ routing }) => routing === 'host-scoped');
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) {
      const { status, json } = await send(row, 'host-b');
      expect({ status, ...json }).toMatchObject({
        status: 501,
        error: 'not_forwarded',
        message: expect.stringContaining('ask the daemon of host-b'),
        origin: 'host-b',
      });
    }
    expect([sent, asked()]).toEqual([[], []]);
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

  it('[RTE-2] goes where the fleet published last, also once the fleet is gone', async () => {
    served.callers.fleet.up = false;
    const kill = () => served.post('/api/v1/kill', { fiber_id: 'a', origin: 'host-b' });
    expect((await kill()).status).toBe(404);
    served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: 'a', mux_session: 'a-x-svc' });
    served.callers.fleet.publish({ 'host-c': urlOfOwner() });
    expect((await kill()).status).toBe(200);
  });

  describe.each(['/api/v1/messages', '/api/v1/messages/files'])('as the address of POST %s', (path) => {
    const post = (body: object | string) => served.post(path, body, { 'Content-Type': 'application/json' });
    const address = 'svc://host-b/claude/s-1';

    it('[MSG-1] is passed on wherever the address stands, and nothing is done here', async () => {
      for (const body of [
        { address, text: 'x' },
        { text: 'x', more: { address: 'svc://host-a/claude/s-1' }, address },
      ]) {
        expect(await post(body)).toMatchObject({ status: 404, headers: { 'svc-host': 'host-b' } });
        expect(sent.at(-1)).toMatchObject({ method: 'POST', url: path, body: JSON.stringify(body) });
      }
      expect(asked()).toEqual([]);
    });

    it('[MSG-1] is not, where it is of this host, of one that nobody knows, or none', async () => {
      for (const other of ['svc://host-a/claude/s-1', 'svc://host-z/claude/s-1', 'host-b', 'svc://host-b', 7])
        expect((await post({ address: other, text: 'x' })).headers['svc-host']).not.toBe('host-b');
      expect(sent).toEqual([]);
    });

    it('[MSG-1] gives way to an origin, whose host refuses an address of another one', async () => {
      await post({ origin: 'host-b', address: 'svc://host-a/claude/s-1', text: 'x' });
      expect(sent).toHaveLength(1);
    });
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
