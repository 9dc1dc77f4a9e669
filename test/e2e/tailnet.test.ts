import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { FakeTailscaled, tailnetNode } from '../kit/fake-tailscaled.ts';
import { linkedNamespaces, noNamespaces } from '../kit/namespaces.ts';
import { run } from '../kit/test-home.ts';
import { type TrustedFolder, trustedFolder } from '../kit/trusted-folder.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';

const A = '100.64.0.1';
const B = '100.64.0.2';
const node = { a: tailnetNode('host-a', A), b: tailnetNode('host-b', B) };
const who = (name: string, user = 1) => ({
  Node: { ID: 1, StableID: `n-${name}`, Name: `${name}.tail1234.ts.net.` },
  UserProfile: { ID: user },
});
const dial = async (daemon: TestDaemon) => (await daemon.version()).tailnet_dial;
const ready = (daemon: TestDaemon) =>
  until('the private listener', async () => ((await dial(daemon)).status === 'ready' ? true : null));

let folder: TrustedFolder;
beforeAll(() => {
  folder = trustedFolder();
});
afterAll(() => folder.remove());

describe('a host whose tailscaled has no interface', () => {
  let tailscaled: FakeTailscaled;
  let daemon: TestDaemon;
  afterEach(async () => {
    await daemon?.dispose();
    await tailscaled?.stop();
  });

  it('[OPR-3] [OPR-1] serves what tailscaled passes on for other machines of its user, and nobody else', async () => {
    const socket = join(folder.path, 'userspace.sock');
    tailscaled = await new FakeTailscaled(node.a, [], { TUN: false }).listen(socket);
    const port = await unusedPort();
    daemon = await startTestDaemon({
      release: false,
      settings: { SVC_TAILNET_LISTEN: 'on', SVC_TAILNET_PORT: String(port), SVC_TAILNET_SOCKET: socket },
    });
    await ready(daemon);
    const { listen, tailnet_dial, discovery } = await daemon.version();
    expect(listen).toContain(`127.0.0.1:${port}`);
    expect(tailnet_dial).toEqual({ status: 'ready', socket_source: 'configured' });
    expect(discovery).toMatchObject({ enabled: false, state: 'disabled' });
    const call = async (host = `${A}:${port}`) => {
      const argv = [
        '-s',
        '-w',
        ' %{http_code}',
        '-H',
        `Host: ${host}`,
        `http://127.0.0.1:${port}/api/v1/version`,
      ];
      return (await run('curl', argv, daemon.home.env)).stdout;
    };
    expect(await call()).toContain('knows no machine at its address"}');
    tailscaled.whois['127.0.0.1'] = who('host-b', 2);
    expect(await call()).toContain('another user of the tailnet"}');
    tailscaled.whois['127.0.0.1'] = who('host-b');
    expect(await call()).toMatch(/"host":"test-host".* 200$/);
    expect(await call('rebinding.example')).toMatch(/forbidden_host.* 403$/);
  });
});

describe('a hub whose tailscaled has no interface', () => {
  it('[OPR-3] [RPL-2] [RTE-2] follows and asks a host of the tailnet through tailscaled', async () => {
    const socket = join(folder.path, 'hub.sock');
    const tailscaled = await new FakeTailscaled(node.a, [node.b], { TUN: false }).listen(socket);
    const other = await startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b', SVC_ALLOWED_HOSTS: B },
      prepare: (home) => void home.fiber('far-away', { front: { status: 'open' } }),
    });
    const [host = '', port = ''] = other.address.split(':');
    tailscaled.routes[`${B}:4000`] = { host, port: Number(port) };
    const hub = await startTestDaemon({
      release: false,
      settings: {
        ...{ SVC_HOST: 'host-a', SVC_DISCOVERY: 'auto', SVC_DISCOVERY_INTERVAL_MS: '1000' },
        SVC_TAILNET_SOCKET: socket,
      },
      prepare: (home) =>
        void home.write('config/remotes.json', { remotes: [{ name: 'host-b', url: `http://${B}:4000` }] }),
    });
    try {
      const row = async () => {
        const { body } = await hub.http.get<FibersComposite>('/fibers/composite');
        return JSON.stringify(body.origins['host-b']?.read ?? '');
      };
      await until('its rows', async () => (await row()).includes('far-away'));
      const edit = { fiber_id: 'far-away', origin: 'host-b', name: 'Renamed' };
      expect((await hub.http.post('/fiber-edit', edit)).status).toBe(200);
      await until('the edit', async () => (await row()).includes('Renamed'));
      expect(tailscaled.dialled).toContain(`${B}:4000`);
      delete tailscaled.routes[`${B}:4000`];
      expect((await hub.http.get('/config?origin=host-b')).status).toBe(503);
      expect(await dial(hub)).toMatchObject({ status: 'error' });
    } finally {
      await Promise.all([hub.dispose(), other.dispose()]);
      await tailscaled.stop();
    }
  });
});

const why_not = noNamespaces();
describe.skipIf(why_not !== null)(
  `two hosts in one tailnet${why_not === null ? '' : ` (${why_not})`}`,
  () => {
    let programs: FakeTailscaled[] = [];
    let daemons: TestDaemon[] = [];
    let networks: Awaited<ReturnType<typeof linkedNamespaces>> | [] = [];
    beforeAll(async () => {
      networks = await linkedNamespaces(A, B);
      const sides = [
        { name: 'host-a', self: node.a, peer: node.b, whois: { [B]: who('host-b'), [A]: who('host-a') } },
        { name: 'host-b', self: node.b, peer: node.a, whois: { [A]: who('host-a'), [B]: who('host-b') } },
      ];
      for (const [at, { name, self, peer, whois }] of sides.entries()) {
        const socket = join(folder.path, `${name}.sock`);
        const program = await new FakeTailscaled(self, [peer]).listen(socket);
        program.whois = whois;
        programs.push(program);
        daemons.push(
          await startTestDaemon({
            release: false,
            under: () => networks[at]!.under(),
            prepare: (home) => {
              home.env.SVC_LISTEN = `unix:${home.path('api.sock')}`;
              home.fiber(`of-${name}`, { front: { status: 'open' } });
            },
            settings: {
              ...{ SVC_HOST: name, SVC_DISCOVERY: 'auto', SVC_DISCOVERY_INTERVAL_MS: '1000' },
              ...{ SVC_TAILNET_LISTEN: 'on', SVC_TAILNET_SOCKET: socket },
            },
          }),
        );
      }
    });
    afterAll(async () => {
      await Promise.all(daemons.map((daemon) => daemon.dispose()));
      await Promise.all(programs.map((program) => program.stop()));
      await Promise.all(networks.map((network) => network.close()));
      [programs, daemons, networks] = [[], [], []];
    });

    it('[OPR-3] [OPR-1] find each other, and have one board once one is a remote of the other', async () => {
      const [hub, other] = daemons as [TestDaemon, TestDaemon];
      await ready(hub);
      await ready(other);
      expect((await other.version()).listen).toContain(`${B}:4000`);
      const peers = await until('the other host', async () => {
        const { discovery } = await hub.version();
        return discovery.peers.length === 1 ? discovery.peers : null;
      });
      expect(peers).toMatchObject([{ name: 'host-b', url: `http://${B}:4000` }]);
      hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url: peers[0]!.url }] });
      await until('its rows', async () => {
        const { body } = await hub.http.get<FibersComposite>('/fibers/composite');
        return JSON.stringify(body.origins['host-b']?.read ?? '').includes('of-host-b');
      });
      const edited = await hub.http.post('/fiber-edit', {
        fiber_id: 'of-host-b',
        origin: 'host-b',
        name: 'Renamed',
      });
      expect(edited.status).toBe(200);
      expect(other.home.document('of-host-b')).toContain('name: Renamed');
    });

    it('[OPR-3] [AUT-2] let in neither a program of their own machine nor another user', async () => {
      const [hub, other] = daemons as [TestDaemon, TestDaemon];
      const call = async (from: number, to: string) => {
        const [file = '', ...args] = [
          ...networks[from]!.under(),
          'curl',
          '-s',
          `http://${to}:4000/api/v1/version`,
        ];
        return (await run(file, args, hub.home.env)).stdout;
      };
      expect(await call(0, B)).toContain('"host":"host-b"');
      expect(await call(1, B)).toContain('a program of this machine has to use the loopback address');
      programs[1]!.whois[A] = who('host-a', 2);
      expect(await call(0, B)).toContain('another user of the tailnet');
      programs[1]!.whois[A] = who('host-a');
      expect(await call(0, B)).toContain('"host":"host-b"');
      expect((await dial(other)).status).toBe('ready');
    });

    it('[OPR-3] say when a request over the tailnet failed, until one goes well', async () => {
      const [hub, other] = daemons as [TestDaemon, TestDaemon];
      const ask = () => hub.http.get('/config?origin=host-b');
      await until('an answer', async () => ((await ask()).status === 200 ? true : null));
      await other.stop();
      expect((await ask()).status).toBe(503);
      expect(await dial(hub)).toMatchObject({ status: 'error', error: expect.stringContaining('host-b') });
      await other.start();
      await ready(other);
      await until('an answer', async () => ((await ask()).status === 200 ? true : null));
      expect((await dial(hub)).status).toBe('ready');
    });
  },
);
