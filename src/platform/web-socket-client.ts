import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { connectionBy, type ServerAddress } from './http-client.ts';

/**
 * Begins a WebSocket to a server. The path goes out as it is, with its query; what fails is told by the `error` event. A
 * message of more than `most_bytes` ends it.
 */
export function openWebSocket(options: {
  to: ServerAddress;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Until it is open. */
  timeout_ms: number;
  most_bytes: number;
}): WebSocket {
  const { to, path, headers, timeout_ms, most_bytes } = options;
  const rules = {
    perMessageDeflate: false,
    maxPayload: most_bytes,
    handshakeTimeout: timeout_ms,
  } as const;
  if ('url' in to) {
    const base = to.url.replace(/^http/, 'ws').replace(/\/$/, '');
    const { connect: dial } = to;
    const by = dial === undefined ? {} : { createConnection: connectionBy(dial) };
    return new WebSocket(`${base}${path}`, { ...rules, headers: { ...headers }, ...by });
  }
  return new WebSocket(`ws://localhost${path}`, {
    ...rules,
    headers: { Host: 'localhost', ...headers },
    // In an address, the library would end the path at its first colon.
    createConnection: () => ('socketPath' in to ? connect(to.socketPath) : connect(to.port, to.host)),
  });
}
