import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toldDelta, toldRow, toldWhole } from '../fleet/told-feeds.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** More bytes than a connection takes before its client has read some. */
const ROWS = 2_000;
const ROW_BYTES = 6_000;
/**
 * A compressed answer is copied at once. The others are sent from the memory that is lent, for as long as their clients
 * take: `slow_ms` between two pieces.
 */
const READERS = [
  { coding: 'gzip', slow_ms: 0, reads: 3 },
  { coding: 'identity', slow_ms: 0, reads: 6 },
  { coding: 'identity', slow_ms: 2, reads: 4 },
];
/** The slow one reads until so many versions were seen. */
const VERSIONS = 8;

/** The daemon that is read, and a host whose rows say in two places in which version they are. */
let hub: TestDaemon;
let host: Server;
let version = 1;

const row = (at: number) =>
  toldRow(`r${at}`, {
    name: `v${version}-${'x'.repeat(ROW_BYTES + ((version * 7) % 300))}`,
    digest: `v${version}`,
  });
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
      const changed = Array.from({ length: 5 }, (_, nth) => row((version * 5 + nth * 400) % ROWS));
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

type Row = { name: string; digest: string };
type Composite = { origins: Record<string, { read: { fibers: Row[] } | null }> };

async function read({ coding, slow_ms } = { coding: 'identity', slow_ms: 0 }): Promise<Row[]> {
  const url = `http://${hub.address}/api/v1/fibers/composite`;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers: { 'accept-encoding': coding } }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) {
    chunks.push(chunk);
    if (slow_ms > 0) await setTimeout(slow_ms);
  }
  const isPacked = answer.headers['content-encoding'] === 'gzip';
  const body = Buffer.concat(chunks);
  const { origins } = JSON.parse(String(isPacked ? gunzipSync(body) : body)) as Composite;
  const found = origins['host-b']?.read?.fibers ?? [];
  if (found.length > 0) expect(isPacked).toBe(coding === 'gzip');
  return found;
}

it('[RPL-2] the rows of another host are whole in every answer while they change and many read them', async () => {
  // Its many bytes put the next question off.
  await until(
    'a change of its rows',
    async () => (await read()).some(({ digest }) => digest !== 'v1'),
    60_000,
  );
  const seen = new Set<string>();
  await Promise.all(
    READERS.map(async (reader) => {
      for (let nth = 0; nth < reader.reads || (reader.slow_ms > 0 && seen.size <= VERSIONS); nth += 1) {
        const all = await read(reader);
        expect(all).toHaveLength(ROWS);
        expect(all.filter(({ name, digest }) => !name.startsWith(`${digest}-`))).toEqual([]);
        for (const { digest } of all) seen.add(digest);
        await setTimeout(25);
      }
    }),
  );
});
