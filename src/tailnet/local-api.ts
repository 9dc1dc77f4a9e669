import { messageOf } from '../base/errors.ts';
import { requestBytes, requestJson } from '../platform/http-client.ts';
import { TAILSCALED_NAME } from '../platform/tailnet-dial.ts';

/** Until the whole status is there, in milliseconds. */
export const STATUS_MS = 3_000;
/** The status of a network of ten thousand machines has about this many bytes. */
export const MOST_STATUS_BYTES = 8 * 1024 * 1024;
/** Far more than what is known of one machine and its user. */
const MOST_WHOIS_BYTES = 256 * 1024;

/**
 * The status document of the tailscaled that listens at a socket. Rejects with an `Error` whose message is a sentence's
 * rest where there is none.
 */
export async function askStatus(socketPath: string): Promise<unknown> {
  const { status, body } = await requestJson({
    to: { socketPath },
    method: 'GET',
    path: '/localapi/v0/status',
    headers: { Host: TAILSCALED_NAME },
    deadline_ms: STATUS_MS,
    most_bytes: MOST_STATUS_BYTES,
  }).catch((error) => {
    // A connection that breaks in the middle of an answer names no socket.
    const why = messageOf(error);
    throw new Error(why.includes(socketPath) ? why : `tailscaled at ${socketPath} gives no answer: ${why}`);
  });
  if (status !== 200) throw new Error(`tailscaled answers its status with ${status}`);
  return body;
}

/**
 * Who is at an address of the tailnet, as `address:port` of a connection; null where nobody is known there. Rejects as
 * `askStatus` does.
 */
export async function askWhois(socketPath: string, address: string): Promise<unknown> {
  const { status, body } = await requestBytes({
    to: { socketPath },
    method: 'GET',
    path: `/localapi/v0/whois?addr=${encodeURIComponent(address)}&proto=tcp`,
    headers: { Host: TAILSCALED_NAME },
    deadline_ms: STATUS_MS,
    most_bytes: MOST_WHOIS_BYTES,
  });
  if (status === 404) return null;
  if (status !== 200) throw new Error(`tailscaled answers whois with ${status}`);
  return JSON.parse(body.toString('utf8'));
}
