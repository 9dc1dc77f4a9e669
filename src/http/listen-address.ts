import { CodedError } from '../base/errors.ts';
import { SOCKET_PATH_BYTES } from '../contract/socket-path.ts';

export type LoopbackHost = '127.0.0.1' | '::1';

/** Where to listen: hosts that share one port, in order, or a Unix socket. `port` 0 picks a free one. */
export type ListenAddress =
  | { kind: 'tcp'; hosts: readonly LoopbackHost[]; port: number }
  | { kind: 'unix'; path: string };

/** `127.0.0.1` also stands for `::1`: a browser may try either for `localhost`. */
const HOSTS: Readonly<Record<string, readonly LoopbackHost[]>> = {
  '127.0.0.1': ['127.0.0.1', '::1'],
  localhost: ['127.0.0.1', '::1'],
  '[::1]': ['::1'],
};

/** Parses a listen setting; throws `invalid_config` for anything but loopback and `unix:/absolute/path` (LIM-1). */
export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith('unix:')) return parseSocketPath(text.slice('unix:'.length));
  const match = /^(.+):(\d{1,5})$/.exec(text);
  const hosts = match === null ? undefined : HOSTS[match[1]!.toLowerCase()];
  const port = Number(match?.[2]);
  if (hosts === undefined || port > 65_535) {
    throw new CodedError(
      'invalid_config',
      `cannot listen on "${text}"; use 127.0.0.1:PORT, [::1]:PORT, localhost:PORT or unix:/absolute/path`,
    );
  }
  return { kind: 'tcp', hosts, port };
}

/** How a bound TCP address is written: `127.0.0.1:4000`, `[::1]:4000`. */
export function formatTcpAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseSocketPath(path: string): ListenAddress {
  if (!path.startsWith('/')) {
    throw new CodedError(
      'invalid_config',
      `cannot listen on "unix:${path}"; the socket path must be absolute`,
    );
  }
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES) {
    throw new CodedError(
      'invalid_config',
      `cannot listen on "unix:${path}"; a socket path has at most ${SOCKET_PATH_BYTES} bytes`,
    );
  }
  return { kind: 'unix', path };
}
