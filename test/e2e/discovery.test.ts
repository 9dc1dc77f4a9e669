import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/contract/http/fleet.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { FakeTailscaled, tailnetNode } from '../kit/fake-tailscaled.ts';
import { type TrustedFolder, trustedFolder } from '../kit/trusted-folder.ts';
import { until } from '../kit/until.ts';

let folder: TrustedFolder;
let tailscaled: FakeTailscaled;
let hub: TestDaemon;
let other: TestDaemon;

const fleet = async () => (await hub.http.get<Fleet>('/fleet')).body.remotes;

beforeAll(async () => {
  folder = trustedFolder();
  const socket = join(folder.path, 'tailscaled.sock');
  const peers = [tailnetNode('host-b', '100.64.0.2'), tailnetNode('phone', '100.64.0.3')];
  tailscaled = await new FakeTailscaled(tailnetNode('host-a', '100.64.0.1'), peers, { TUN: false }).listen(
    socket,
  );
  other = await startTestDaemon({
    release: false,
    settings: { SVC_HOST: 'host-b', SVC_ALLOWED_HOSTS: '100.64.0.2' },
  });
  tailscaled.routes['100.64.0.2:4000'] = {
    host: '127.0.0.1',
    port: Number(other.address.split(':').at(-1)),
  };
  hub = await startTestDaemon({
    release: false,
    settings: {
      SVC_HOST: 'host-a',
      SVC_DISCOVERY: 'auto',
      SVC_DISCOVERY_INTERVAL_MS: '1000',
      SVC_TAILNET_SOCKET: socket,
    },
  });
});
afterAll(async () => {
  await Promise.all([hub?.dispose(), other?.dispose()]);
  await tailscaled?.stop();
  folder?.remove();
});

describe('a host in a tailnet', () => {
  it('[OPR-1] [REC-7] finds the daemons of its user, and shows how to add them', async () => {
    const { tailnet_dial, discovery } = await until('the first look', async () => {
      const version = await hub.version();
      return version.discovery.state === 'pending' ? null : version;
    });
    expect(tailnet_dial).toEqual({ status: 'available', socket_source: 'configured' });
    expect(discovery).toEqual({
      ...{ enabled: true, state: 'ok', via: 'localapi', error: null, last_run_at: expect.any(Number) },
      peers: [
        {
          ...{ name: 'host-b', url: 'http://100.64.0.2:4000', dns_name: 'host-b.tail1234.ts.net' },
          last_seen_at: expect.any(Number),
        },
      ],
      rejected: [{ name: 'phone', reason: 'refused' }],
    });
    expect(await fleet()).toMatchObject([
      {
        ...{ name: 'host-b', source: 'discovered', address: '100.64.0.2:4000', host_class: 'personal' },
        ...{ reach: { state: 'answers' }, workers: null },
      },
    ]);
    const { stdout } = await hub.home.svc('fleet');
    expect(stdout).toContain('svc remotes add host-b --url http://100.64.0.2:4000');
  });

  it('[REC-7] shows a remote once, whether or not it was found as well', async () => {
    hub.home.write('config/remotes.json', {
      remotes: [{ name: 'host-b', url: `http://${other.address}` }],
    });
    const rows = await until('the remote', async () => {
      const found = await fleet();
      return found[0]?.source === 'file' ? found : null;
    });
    expect(rows.map(({ name }) => name)).toEqual(['host-b']);
    expect((await hub.version()).discovery.peers).toHaveLength(1);
  });

  it('[OPR-1] looks again, and says when tailscaled is gone', async () => {
    await tailscaled.stop();
    const { tailnet_dial, discovery } = await until('the loss', async () => {
      const version = await hub.version();
      // A question that its end cut off gives that as the reason, until the next one finds no socket.
      return version.discovery.error?.includes('socket') === true ? version : null;
    });
    expect(tailnet_dial.status).toBe('unavailable');
    expect(discovery).toMatchObject({ enabled: true, state: 'unavailable', peers: [] });
  });
});
