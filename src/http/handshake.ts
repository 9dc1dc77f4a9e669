import type { RequestHead } from './request-head.ts';

/** The only version of the protocol that there is (RFC 6455). */
const VERSION = '13';

/** Another protocol that a client would rather speak, such as h2c, may be passed over; frames may not. */
export function asksForSocket({ headers: { upgrade } }: RequestHead): boolean {
  return upgrade !== undefined && /(?:^|[, \t])websocket(?:[/, \t]|$)/i.test(upgrade);
}

/** What is wrong with a request that asks for a WebSocket; null where it is a whole handshake. */
export function handshakeFault({ method, headers }: RequestHead): string | null {
  if (method !== 'GET') return 'A WebSocket is opened with GET.';
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'Upgrade must name websocket and nothing else.';
  if (!/(?:^|[, \t])upgrade(?:[, \t]|$)/i.test(headers.connection ?? ''))
    return 'Connection must name Upgrade.';
  if (headers['sec-websocket-version'] !== VERSION) return `Sec-WebSocket-Version must be ${VERSION}.`;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return 'Sec-WebSocket-Key must be one key of 16 bytes in base64.';
  return null;
}
