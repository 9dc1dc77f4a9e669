import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError, isCoded, messageOf } from './base/errors.ts';
import type { Logger } from './base/logger.ts';
import { dataPaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import { explainBindFailure } from './http/bind-failure.ts';
import { parseListenAddress } from './http/listen-address.ts';
import { freeSocketPath } from './http/unix-socket-path.ts';
import { ensurePrivateFolder } from './platform/private-folder.ts';

/** What a listener of the daemon is opened on; the HTTP server. */
type Listening = { listen(address: string): Promise<string[]> };

/**
 * Binds what the settings say, and beside a TCP listener a Unix socket in a folder of its own, for the command line
 * and for tunnels: only this user can open it. Answers the addresses, the settings' own first. Throws what the
 * server throws for the settings' address, and `invalid_config` for a socket that an exposed host would have in a
 * folder open to others; without the socket beside it, the daemon serves all the same.
 */
export async function openListeners(options: {
  server: Listening;
  settings: Settings;
  host_class: 'personal' | 'exposed';
  logger: Logger;
}): Promise<string[]> {
  const { server, settings, host_class, logger } = options;
  const { listen } = settings;
  if (listen.startsWith('unix:')) {
    const path = listen.slice('unix:'.length);
    if (host_class === 'exposed' && path.startsWith('/'))
      ensurePrivateFolder(dirname(path), { tighten: false });
    return server.listen(listen);
  }
  const bound = await server.listen(listen);
  if (lacksLoopbackV6(bound))
    logger.warn({ listen: bound }, 'this machine has no ::1; the daemon is served on IPv4 alone');
  return [...bound, ...(await listenBeside(server, dataPaths(settings).api_socket, logger))];
}

/** An address of 127.0.0.1 stands for both IP versions. */
export function lacksLoopbackV6(bound: readonly string[]): boolean {
  return bound.length === 1 && bound[0]!.startsWith('127.0.0.1:');
}

async function listenBeside(server: Listening, path: string, logger: Logger): Promise<string[]> {
  try {
    ensurePrivateFolder(dirname(path), { tighten: true });
    return await server.listen(`unix:${path}`);
  } catch (error) {
    if (!isCoded(error)) throw error;
    logger.warn({ err: error }, 'no Unix socket beside the TCP listener; tunnels and svc use TCP');
    return [];
  }
}

/**
 * Throws what would keep a daemon from listening where the settings say, while the daemon that it replaces still holds
 * the addresses `held`.
 */
export async function checkListener(
  settings: Pick<Settings, 'listen'>,
  held: readonly string[],
): Promise<void> {
  const address = parseListenAddress(settings.listen);
  if (address.kind === 'unix') {
    if (held.includes(`unix:${address.path}`)) return;
    await freeSocketPath(address.path);
    requireWritable(dirname(address.path));
    return;
  }
  const { hosts, port } = address;
  if (port === 0 || held.some((one) => one.endsWith(`:${port}`))) return;
  const fault = await explainBindFailure(hosts[0]!, port);
  if (fault !== null) throw fault;
}

function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new CodedError(
      'invalid_config',
      `SVC_LISTEN names a socket in ${folder}, which cannot be written to (${messageOf(error)}); make it, or choose another path`,
      { cause: error },
    );
  }
}
