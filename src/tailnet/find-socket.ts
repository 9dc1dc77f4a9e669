import { join } from 'node:path';
import type { TailnetDial } from '../contract/http/version.ts';
import type { SystemSocket } from '../platform/system-socket.ts';

type Source = TailnetDial['socket_source'];
/** Where the program of the private network may have its socket. */
export type SocketPlace = { source: Exclude<Source, 'none'>; path: string };
/** The socket that is used; `fault` says why there is none. */
export type FoundSocket = { default_socket_refused: boolean } & (
  | { source: Exclude<Source, 'none'>; path: string; fault: null }
  | { source: 'none'; path: null; fault: string }
);

/** Where tailscaled has its socket when the system starts it. */
const SYSTEM_PATHS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['/var/run/tailscaled.socket'],
  linux: [
    '/var/run/tailscale/tailscaled.sock',
    '/var/packages/Tailscale/etc/tailscaled.sock',
    '/var/packages/Tailscale/var/tailscaled.sock',
    '/perm/tailscaled/tailscaled.sock',
  ],
};

/** The places that are looked at, in order: the configured one alone, or those of this user and then the system's. */
export function socketPlaces(options: {
  configured: string | null;
  platform: NodeJS.Platform;
  home: string;
  /** `XDG_RUNTIME_DIR`; undefined where it is not set. */
  runtime_dir: string | undefined;
}): SocketPlace[] {
  const { configured, platform, home, runtime_dir } = options;
  if (configured !== null) return [{ source: 'configured', path: configured }];
  const folders = [...(runtime_dir?.startsWith('/') ? [runtime_dir] : []), join(home, '.local', 'share')];
  return [
    ...folders.map((folder) => ({
      source: 'default' as const,
      path: join(folder, 'tailscale', 'tailscaled.sock'),
    })),
    ...(SYSTEM_PATHS[platform] ?? []).map((path) => ({ source: 'system' as const, path })),
  ];
}

/**
 * The first place with a socket that only root or this user can have made. Whoever else makes one could pose as any host,
 * and would be told all that is for that host. An untrusted one is passed over, unless it is the configured one.
 */
export async function findSocket(
  places: readonly SocketPlace[],
  look: (path: string) => Promise<SystemSocket>,
): Promise<FoundSocket> {
  let default_socket_refused = false;
  let fault: string | null = null;
  for (const { source, path } of places) {
    const socket = await look(path);
    if (socket.state === 'trusted') return { source, path, default_socket_refused, fault: null };
    if (socket.state === 'refused') {
      default_socket_refused ||= source === 'default';
      fault ??= `the socket of tailscaled is not trusted: ${socket.fault}`;
    } else if (source === 'configured') fault = `there is no socket at ${path}; fix SVC_TAILNET_SOCKET`;
  }
  fault ??= 'no socket of tailscaled was found; start it, or name its socket in SVC_TAILNET_SOCKET';
  return { source: 'none', path: null, default_socket_refused, fault };
}
