import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toldDelta, toldRow, toldWhole } from '../fleet/told-feeds.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const ROWS = 200;
const READERS = 4;
const READS = 60;

/** The daemon that is read, and a host whose rows say in two places in which version they are. */
let hub: TestDaemon;
let host: Server;
let version = 1;

const row = (at: number) =>
  toldRow(`r${at}`, { name: `v${version}-${'x'.repeat((version * 7) % 300)}`, digest: `v${version}` });
const rows = () => Array.from({ length: ROWS }, (_, at) => row(at));

beforeAll(async () => {
  host = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://host-b');
    const answer = (body: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'svc-host': 'host-b' })
        .end(JSON.stringify(body));
    if (pathname === '/api/v1/version') answer({ host: 'host-b', git_short_sha: 'b1' });
    else if (pathname !== '/api/v1/fibers') response.writeHead(404).end();
    else if (searchParams.get('since')) {
      version += 1;
      const changed = Array.from({ length: 5 }, (_, nth) => row((version * 5 + nth) % ROWS));
      answer(toldDelta('host-b', `t-${version}`, changed));
    } else answer(toldWhole('host-b', `t-${version}`, rows()));
  });
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
  hub = await startTestDaemon({ release: false, settings: { SVC_HOST: 'host-a' } });
  hub.home.write('config/remotes.json', {
    defaults: { poll_interval_ms: 100 },
    remotes: [{ name: 'host-b', url: `http://127.0.0.1:${(host.address() as AddressInfo).port}` }],
  });
});
afterAll(async () => {
  host.closeAllConnections();
  await new Promise((done) => host.close(done));
  await hub.dispose();
});

type Row = { id: string; name: string; digest: string };

async function read(): Promise<Row[]> {
  const response = await fetch(`http://${hub.address}/api/v1/fibers/composite`);
  const { origins } = (await response.json()) as {
    origins: Record<string, { read: { fibers: Row[] } | null }>;
  };
  return origins['host-b']?.read?.fibers ?? [];
}

it('[RPL-2] the rows of another host are whole in every answer while they change and many read them', async () => {
  await until('its rows', async () => (await read()).length === ROWS);
  const seen = new Set<string>();
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      for (let nth = 0; nth < READS; nth += 1) {
        const all = await read();
        expect(all).toHaveLength(ROWS);
        expect(all.filter(({ name, digest }) => !name.startsWith(`${digest}-`))).toEqual([]);
        for (const { digest } of all) seen.add(digest);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }),
  );
  expect(seen.size).toBeGreaterThan(5);
});
