import { afterEach, expect, it } from 'vitest';
import { systemPeerCredentials } from '../../src/platform/peer-credentials.ts';
import { ask } from '../http/raw-exchange.ts';
import { loopbackAddresses } from '../http/served.ts';
import { runningPoller, type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;

afterEach(() => served.stop());

it('[RDY-1] [OPR-1] answers GET /version while booting, with the boot time so far', async () => {
  served = await serveRoutes({ ready_ms: null });
  const first = await served.get('/api/v1/version');
  expect(first).toMatchObject({
    status: 200,
    json: { ready: false, host: 'host-a', git_short_sha: 'abc1234' },
  });
  const boot_ms = first.json.boot_ms as number;
  expect(boot_ms).toBeGreaterThanOrEqual(100);
  await expect.poll(async () => (await served.get('/api/v1/version')).json.boot_ms).toBeGreaterThan(boot_ms);
});

it('[RDY-1] [ERR-26] answers state-dependent routes 503 while booting, without Retry-After', async () => {
  served = await serveRoutes({ ready_ms: null });
  const gated = served.rows.filter((row) => row.state === 'ready');
  expect(gated.length).toBeGreaterThan(5);
  for (const row of gated) {
    const path = row.path.replace('*id', 'a/b');
    const answer = row.method === 'GET' ? await served.get(path) : await served.post(path, {});
    expect(answer.status, path).toBe(503);
    expect(answer.json, path).toMatchObject({ error: 'booting', ready: false, host: 'host-a' });
    expect(answer.json.boot_ms, path).toEqual(expect.any(Number));
    expect(answer.headers, path).not.toHaveProperty('retry-after');
  }
  expect(served.callers.poller.asked).toEqual([]);
});

it('[RDY-2] answers normally once every component has started', async () => {
  served = await serveRoutes({ ready_ms: null });
  served.callers.poller.answers.agents = () => ({ default: null, agents: [] });
  expect((await served.get('/api/v1/agents')).status).toBe(503);
  served.become({ ready_ms: 321 });
  expect((await served.get('/api/v1/agents')).json).toEqual({ default: null, agents: [] });
  expect((await served.get('/api/v1/version')).json).toMatchObject({ ready: true, boot_ms: 321 });
});

it('[RDY-3] exempts the board, the version and the sessions from the gate', async () => {
  served = await serveRoutes({ ready_ms: null });
  const body = { host: 'host-a', sessions: [] };
  served.callers.ledgers.answers.sessions_body = () => ({
    value: { etag: 'W/"s"' },
    bulk: Buffer.from(JSON.stringify(body)),
  });
  expect(
    served.rows
      .filter((row) => row.state === 'always')
      .map((row) => row.path)
      .toSorted(),
  ).toEqual([
    '/',
    '/api/v1/messages',
    '/api/v1/messages',
    '/api/v1/messages/files',
    '/api/v1/openapi.json',
    '/api/v1/peers',
    '/api/v1/sessions',
    '/api/v1/version',
    '/assets/:name',
    '/manifest.webmanifest',
    '/metrics',
    '/phone',
    '/sw.js',
  ]);
  expect((await served.get('/')).status).toBe(404);
  expect((await served.get('/api/v1/sessions')).json).toEqual(body);
  const get = await served.get('/api/v1/version');
  const head = await ask({ port: served.port }, 'HEAD', '/api/v1/version');
  expect(head).toMatchObject({ status: 200, body: '' });
  expect(Number(head.headers['content-length'])).toBeGreaterThan(get.body.length / 2);
});

it('[RPL-18] shows the change of a component in the next version', async () => {
  served = await serveRoutes();
  expect((await served.get('/api/v1/version')).json.components).toEqual([runningPoller()]);
  served.become({ components: [runningPoller('restarting', 1)] });
  expect((await served.get('/api/v1/version')).json.components).toEqual([runningPoller('restarting', 1)]);
});

it('[OPR-1] [AUT-2] shows how peers are identified, and where it listens', async () => {
  served = await serveRoutes();
  expect((await served.get('/api/v1/version')).json).toMatchObject({
    peer_gate: systemPeerCredentials().view,
    tailnet_dial: { socket_source: 'none' },
    discovery: { enabled: false, state: 'disabled' },
    listen: loopbackAddresses(served.port),
  });
});
