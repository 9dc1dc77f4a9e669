import { describe, expect, it } from 'vitest';
import type { SystemSocket } from '../../src/platform/system-socket.ts';
import { findSocket, socketPlaces } from '../../src/tailnet/find-socket.ts';

const LINUX = { configured: null, platform: 'linux', home: '/home/me', runtime_dir: '/run/user/7' } as const;
const RUNTIME = '/run/user/7/tailscale/tailscaled.sock';
const SYSTEM = '/var/run/tailscale/tailscaled.sock';
const refused: SystemSocket = { state: 'refused', fault: 'it belongs to another user' };
const found = (of: Record<string, SystemSocket['state']>, configured: string | null = null) =>
  findSocket(socketPlaces({ ...LINUX, configured }), async (path) =>
    of[path] === 'refused' ? refused : { state: (of[path] as 'trusted' | undefined) ?? 'absent' },
  );

describe('the socket of tailscaled', () => {
  it('[OPR-1] is looked for at the place of this user before those of the system, which differ by platform', () => {
    expect(socketPlaces(LINUX).map(({ source, path }) => [source, path])).toEqual([
      ['default', RUNTIME],
      ['default', '/home/me/.local/share/tailscale/tailscaled.sock'],
      ['system', SYSTEM],
      ['system', '/var/packages/Tailscale/etc/tailscaled.sock'],
      ['system', '/var/packages/Tailscale/var/tailscaled.sock'],
      ['system', '/perm/tailscaled/tailscaled.sock'],
    ]);
    const mac = socketPlaces({ ...LINUX, platform: 'darwin', runtime_dir: undefined });
    expect(mac.map(({ path }) => path)).toEqual([
      '/home/me/.local/share/tailscale/tailscaled.sock',
      '/var/run/tailscaled.socket',
    ]);
    expect(socketPlaces({ ...LINUX, runtime_dir: 'relative' })[0]?.path).toMatch(/^\/home/);
  });

  it('[OPR-1] is the first that is trusted, and an untrusted one of this user is told', async () => {
    const trusted = { fault: null, default_socket_refused: false };
    expect(await found({ [RUNTIME]: 'trusted', [SYSTEM]: 'trusted' })).toEqual({
      ...{ ...trusted, source: 'default', path: RUNTIME },
    });
    expect(await found({ [SYSTEM]: 'trusted' })).toEqual({ ...trusted, source: 'system', path: SYSTEM });
    expect(await found({ [RUNTIME]: 'refused', [SYSTEM]: 'trusted' })).toEqual({
      ...{ source: 'system', path: SYSTEM, fault: null, default_socket_refused: true },
    });
    expect(await found({ [RUNTIME]: 'refused' })).toEqual({
      ...{ source: 'none', path: null, default_socket_refused: true },
      fault: 'the socket of tailscaled is not trusted: it belongs to another user',
    });
    expect(await found({ [SYSTEM]: 'refused' })).toMatchObject({
      ...{ source: 'none', default_socket_refused: false },
    });
    expect(await found({})).toMatchObject({
      source: 'none',
      fault: expect.stringContaining('SVC_TAILNET_SOCKET'),
    });
  });

  it('[OPR-1] is the configured one alone where one is configured', async () => {
    const all = { [RUNTIME]: 'trusted', [SYSTEM]: 'trusted' } as const;
    expect(await found({ ...all, '/x.sock': 'trusted' }, '/x.sock')).toMatchObject({ source: 'configured' });
    expect(await found(all, '/x.sock')).toMatchObject({
      ...{ source: 'none', fault: 'there is no socket at /x.sock; fix SVC_TAILNET_SOCKET' },
    });
    expect(await found({ ...all, '/x.sock': 'refused' }, '/x.sock')).toMatchObject({
      ...{ source: 'none', default_socket_refused: false, fault: expect.stringContaining('not trusted') },
    });
  });
});
