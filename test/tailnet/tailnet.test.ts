import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { TailnetView } from '../../src/contract/http/version.ts';
import type { TailnetNetwork } from '../../src/contract/threads/fleet.ts';
import { runProcess } from '../../src/platform/process.ts';
import { lookAtSystemSocket } from '../../src/platform/system-socket.ts';
import { dialThrough } from '../../src/platform/tailnet-dial.ts';
import { findSocket } from '../../src/tailnet/find-socket.ts';
import { askStatus } from '../../src/tailnet/local-api.ts';
import { type DiscoveryOptions, TailnetDiscovery } from '../../src/tailnet/tailnet.ts';
import { statusByCommand } from '../../src/tailnet/tailnet-program.ts';
import { FakeTailscaled, tailnetNode } from '../kit/fake-tailscaled.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type TrustedFolder, trustedFolder } from '../kit/trusted-folder.ts';
import { until } from '../kit/until.ts';

const SELF = tailnetNode('host-a', '100.64.0.1');
const USERSPACE = { TUN: false };
let folder: TrustedFolder;
let scratch: ScratchFolder;
let socket: string;
let tailscaled: FakeTailscaled | null = null;
let discovery: TailnetDiscovery | null = null;
let clock: FakeClock;
let told: TailnetView[];
let networks: (TailnetNetwork | null)[];
const servers: Server[] = [];

beforeEach(() => {
  folder = trustedFolder();
  scratch = scratchFolder();
  socket = join(folder.path, 't.sock');
  clock = new FakeClock();
  told = [];
  networks = [];
});
afterEach(async () => {
  discovery?.stop();
  await tailscaled?.stop();
  tailscaled = null;
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  }
  folder.remove();
  scratch.remove();
});

async function start(peers: Record<string, unknown>[], more: object = {}): Promise<FakeTailscaled> {
  tailscaled = await new FakeTailscaled(SELF, peers, more).listen(socket);
  return tailscaled;
}

/** A server on loopback, which stands for the one of a machine at `address`. */
async function machine(
  address: string,
  answer: (url: string, response: ServerResponse) => void,
): Promise<void> {
  const server = createServer((request, response) => answer(request.url ?? '', response));
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  tailscaled!.routes[`${address}:4000`] = { host: '127.0.0.1', port };
}

const version = (host: string) =>
  JSON.stringify({ git_short_sha: 'abc1234', host, booted_at: '2026-01-05T09:00:00.000Z' });

function look(more: Partial<DiscoveryOptions> = {}): TailnetDiscovery {
  discovery = new TailnetDiscovery({
    ...{
      enabled: true,
      listens: false,
      interval_ms: 300_000,
      port: 4_000,
      host: 'host-a',
      clock,
      logger: silentLogger,
    },
    program: {
      findSocket: () => findSocket([{ source: 'default', path: socket }], lookAtSystemSocket),
      askStatus,
      askByCommand: async () => null,
    },
    tell: ({ view, network }) => {
      told.push(view);
      networks.push(network);
    },
    ...more,
  });
  return discovery;
}
const found = async (more: Partial<DiscoveryOptions> = {}) => {
  await look(more).run();
  return told.at(-1)!;
};

describe('the discovery of daemons in the private network', () => {
  it('[OPR-1] finds those of this user through tailscaled, and says why the others are none', async () => {
    const names = ['host-b', 'page', 'other', 'away', 'large', 'moved', 'twin', 'me'];
    await start(
      names.map((name, at) => tailnetNode(name, `100.64.0.${at + 2}`)),
      USERSPACE,
    );
    const asked: string[] = [];
    const addressOf = (name: string) => `100.64.0.${names.indexOf(name) + 2}`;
    await machine(addressOf('host-b'), (url, response) => {
      asked.push(url);
      response.end(version('host-b'));
    });
    await machine(addressOf('page'), (_, response) => void response.end('<html>'));
    await machine(addressOf('other'), (_, response) => void response.writeHead(403).end('{}'));
    await machine(addressOf('large'), (_, response) => void response.end(' '.repeat(65 * 1024)));
    await machine(
      addressOf('moved'),
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    await machine(addressOf('twin'), (_, response) => void response.end(version('host-b')));
    await machine(addressOf('me'), (_, response) => void response.end(version('host-a')));
    const view = await found();
    expect(view).toEqual({
      tailnet_dial: { status: 'available', socket_source: 'default' },
      discovery: {
        ...{ enabled: true, state: 'ok', via: 'localapi', error: null, last_run_at: clock.now() },
        peers: [
          {
            ...{ name: 'host-b', url: 'http://100.64.0.2:4000', dns_name: 'host-b.tail1234.ts.net' },
            last_seen_at: clock.now(),
          },
        ],
        rejected: [
          { name: 'away', reason: 'refused' },
          { name: 'large', reason: 'not_svc' },
          { name: 'me', reason: 'same_host' },
          { name: 'moved', reason: 'status_302' },
          { name: 'other', reason: 'status_403' },
          { name: 'page', reason: 'not_json' },
          { name: 'twin', reason: 'duplicate_host' },
        ],
      },
    });
    expect(asked).toEqual(['/api/v1/version']);
    expect(discovery!.found()).toMatchObject([{ told: { host: 'host-b' }, url: 'http://100.64.0.2:4000' }]);
  });

  it('[OPR-1] waits two seconds for a machine that hangs, drips or sends no end, and for all of them together', async () => {
    const { routes } = await start(
      Array.from({ length: 16 }, (_, at) => tailnetNode(`n-${at}`, `100.64.0.${at + 2}`)),
      USERSPACE,
    );
    const drips: NodeJS.Timeout[] = [];
    await machine('100.64.0.2', () => undefined);
    await machine('100.64.0.3', (_, response) => {
      drips.push(setInterval(() => response.write(' '), 50));
    });
    for (let at = 4; at <= 17; at += 1) routes[`100.64.0.${at}:4000`] = routes['100.64.0.2:4000']!;
    const from = performance.now();
    const { discovery: view } = await found();
    expect(performance.now() - from).toBeLessThan(6_000);
    expect(new Set(view.rejected.map(({ reason }) => reason))).toEqual(new Set(['timeout']));
    for (const drip of drips) clearInterval(drip);
  });

  it('[OPR-1] is disabled where it is turned off, and pending until the first look is over', async () => {
    await start([]);
    const off = look({ enabled: false });
    await off.run();
    expect(off.view()).toEqual({
      tailnet_dial: { status: 'disabled', socket_source: 'none' },
      discovery: expect.objectContaining({ enabled: false, state: 'disabled' }),
    });
    expect(tailscaled!.asked).toEqual([]);
    expect(look().view().discovery).toMatchObject({ enabled: true, state: 'pending', last_run_at: null });
  });

  it.each([
    ['there is no socket', null, 'none', /no socket of tailscaled was found/],
    ['it is not up', { BackendState: 'Stopped' }, 'default', /in state Stopped/],
    ['this machine is tagged', { Self: { ...SELF, Tags: ['tag:ci'] } }, 'default', /is tagged/],
  ])('[OPR-1] is unavailable where %s, with the reason', async (_, more, socket_source, why) => {
    if (more !== null) await start([], more);
    expect(await found()).toMatchObject({
      tailnet_dial: { status: 'unavailable', socket_source, error: expect.stringMatching(why) },
      discovery: { state: 'unavailable', error: expect.stringMatching(why), peers: [], rejected: [] },
    });
  });

  it.each([
    ['is no JSON', (response: ServerResponse) => void response.end('{'), /not JSON/],
    ['is a refusal', (response: ServerResponse) => void response.writeHead(403).end('{}'), /with 403/],
    [
      'has no end',
      (response: ServerResponse) => {
        const chunk = Buffer.alloc(256 * 1024, ' ');
        const more = () => {
          while (!response.destroyed && response.write(chunk));
          response.once('drain', more);
        };
        more();
      },
      /too large/,
    ],
    ['breaks off', (response) => response.socket!.destroy(), /^tailscaled at \/.* gives no answer: /],
  ])('[OPR-1] is unavailable where the status %s', async (_, instead, why) => {
    (await start([])).instead = (__, response) => instead(response);
    expect((await found()).discovery).toMatchObject({
      ...{ state: 'unavailable', via: 'localapi', error: expect.stringMatching(why) },
    });
  });

  it('[OPR-1] looks again at each interval, and forgets what is there no more', async () => {
    const fake = await start([tailnetNode('host-b', '100.64.0.2')], USERSPACE);
    await machine('100.64.0.2', (_, response) => void response.end(version('host-b')));
    expect((await found()).discovery.peers).toHaveLength(1);
    fake.routes = {};
    clock.advance(300_000);
    await until('the second look', () => told.length === 2);
    expect(told[1]!.discovery).toMatchObject({
      peers: [],
      rejected: [{ name: 'host-b', reason: 'refused' }],
    });
    expect(discovery!.found()).toEqual([]);
    await fake.stop();
    clock.advance(300_000);
    await until('the third look', () => told.length === 3);
    expect(told[2]!.discovery).toMatchObject({ state: 'unavailable', last_run_at: clock.now() });
    discovery!.stop();
    clock.advance(900_000);
    await discovery!.run();
    expect(told).toHaveLength(3);
  });
});

describe('a host that is to be reached over the tailnet', () => {
  it('[OPR-3] looks at tailscaled often, asks others no more often for that, and tells what has changed', async () => {
    const fake = await start([tailnetNode('host-b', '100.64.0.2')], USERSPACE);
    const known = await found({ listens: true });
    expect(known.discovery).toMatchObject({ state: 'ok', rejected: [{ name: 'host-b' }] });
    expect(networks).toEqual([
      {
        ...{ socket, has_interface: false },
        self: {
          ...{ id: 'n-host-a', user_id: 1, dns_name: 'host-a.tail1234.ts.net', is_tagged: false },
          addresses: ['100.64.0.1'],
        },
      },
    ]);
    clock.advance(15_000);
    await until('the next look', () => fake.asked.length === 2);
    expect(fake.dialled).toHaveLength(1);
    fake.status = { ...(fake.status as object), Self: tailnetNode('host-a', '100.64.0.9') };
    await until('the new address', () => {
      clock.advance(15_000);
      return networks.length === 2;
    });
    expect(networks[1]?.self.addresses).toEqual(['100.64.0.9']);
    expect(fake.dialled).toHaveLength(1);
  });

  it('[OPR-3] asks no other where that is off', async () => {
    const fake = await start([tailnetNode('host-b', '100.64.0.2')], USERSPACE);
    const { tailnet_dial, discovery: view } = await found({ enabled: false, listens: true });
    expect(tailnet_dial.status).toBe('available');
    expect(view).toMatchObject({ enabled: false, state: 'disabled', last_run_at: null });
    expect(fake.dialled).toEqual([]);
  });
});

describe('a connection through tailscaled', () => {
  it('carries bytes both ways, and says why there is none', async () => {
    await start([], USERSPACE);
    await machine('100.64.0.2', (url, response) => void response.end(`asked for ${url}`));
    const stream = await dialThrough(socket, { host: '100.64.0.2', port: 4_000 });
    stream.write('GET /x HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    expect(text).toContain('asked for /x');
    await expect(dialThrough(socket, { host: '100.64.0.3', port: 4_000 })).rejects.toThrow(
      'tailscaled refuses the connection (502): dial failure: no route',
    );
    await tailscaled!.stop();
    await expect(dialThrough(socket, { host: '100.64.0.2', port: 4_000 })).rejects.toThrow(/cannot be asked/);
  });

  it('is made directly where the address is that of this machine', async () => {
    const fake = await start([]);
    await machine('here', (_, response) => void response.end('here'));
    const { port } = fake.routes['here:4000']!;
    const server = createServer();
    servers.push(server);
    server.on('upgrade', (_, stream) =>
      stream.end('HTTP/1.1 200 OK\r\nDial-Self: true\r\nContent-Length: 0\r\n\r\n'),
    );
    const self = join(folder.path, 'self.sock');
    await new Promise<void>((done) => server.listen(self, done));
    const stream = await dialThrough(self, { host: '127.0.0.1', port });
    stream.write('GET / HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    expect(text).toContain('here');
  });
});

describe('the command line of the private network', () => {
  const run = { run: runProcess };

  it('[OPR-1] prints the same status, and is passed over where it is not there', async () => {
    const file = scratch.write(
      'tailscale',
      `#!/bin/sh\n[ "$*" = "status --json" ] && echo '{"BackendState":"x"}'\n`,
      0o700,
    );
    expect(await statusByCommand(run, file)).toEqual({ BackendState: 'x' });
    expect(await statusByCommand(run, `${file}-none`)).toBeNull();
    const broken = scratch.write('broken', '#!/bin/sh\necho failed to connect\nexit 1\n', 0o700);
    await expect(statusByCommand(run, broken)).rejects.toThrow(/printed no status \(exit code 1\)/);
    await start([]);
    const document = tailscaled!.status;
    const program = {
      findSocket: () => findSocket([], lookAtSystemSocket),
      ...{ askStatus, askByCommand: async () => document },
    };
    expect(await found({ program })).toMatchObject({
      tailnet_dial: { status: 'available', socket_source: 'none' },
      discovery: { state: 'ok', via: 'cli' },
    });
  });
});
