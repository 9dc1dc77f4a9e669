import { request } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../base/errors.ts';
import { requestBytes, requestJson } from '../platform/http-client.ts';

/** Until the whole status is there, and until a connection is made; in milliseconds. */
export const STATUS_MS = 3_000;
const DIAL_MS = 5_000;
/** The status of a network of ten thousand machines has about this many bytes. */
export const MOST_STATUS_BYTES = 8 * 1024 * 1024;
/** Far more than what is known of one machine and its user. */
const MOST_WHOIS_BYTES = 256 * 1024;
/** Far more than the reason of a refusal. */
const MOST_REASON_BYTES = 4 * 1024;
/** tailscaled answers to no other name, so that no web page can speak with it. */
const HOST = 'local-tailscaled.sock';

/**
 * The status document of the tailscaled that listens at a socket. Rejects with an `Error` whose message is a sentence's
 * rest where there is none.
 */
export async function askStatus(socketPath: string): Promise<unknown> {
  const { status, body } = await requestJson({
    to: { socketPath },
    method: 'GET',
    path: '/localapi/v0/status',
    headers: { Host: HOST },
    deadline_ms: STATUS_MS,
    most_bytes: MOST_STATUS_BYTES,
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
    headers: { Host: HOST },
    deadline_ms: STATUS_MS,
    most_bytes: MOST_WHOIS_BYTES,
  });
  if (status === 404) return null;
  if (status !== 200) throw new Error(`tailscaled answers whois with ${status}`);
  return JSON.parse(body.toString('utf8'));
}

/**
 * A TCP connection to a machine of the private network that tailscaled makes; the program needs no network interface for
 * it. An address of this machine itself, which tailscaled leaves to its caller, is connected to directly. Rejects with an
 * `Error` that says why there is none.
 */
export function dialThrough(socketPath: string, to: { host: string; port: number }): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const call = request({
      socketPath,
      method: 'POST',
      path: '/localapi/v0/dial',
      headers: {
        Host: HOST,
        Connection: 'upgrade',
        Upgrade: 'ts-dial',
        'Dial-Host': to.host,
        'Dial-Port': String(to.port),
        'Dial-Network': 'tcp',
        'Content-Length': 0,
      },
      agent: false,
    });
    const fail = (why: string) => {
      clearTimeout(timer);
      call.destroy();
      reject(new Error(why));
    };
    const timer = setTimeout(
      () => fail(`tailscaled made no connection within ${DIAL_MS / 1_000} s`),
      DIAL_MS,
    );
    call.on('error', (error) => fail(`tailscaled cannot be asked for a connection: ${messageOf(error)}`));
    call.on('upgrade', (_, stream, head) => {
      clearTimeout(timer);
      if (head.length > 0) stream.unshift(head);
      resolve(stream);
    });
    call.on('response', (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => {
        if (said.length < MOST_REASON_BYTES) said += chunk.toString('latin1');
        else response.destroy();
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        const { statusCode = 0, headers } = response;
        if (headers['dial-self'] === 'true') {
          const direct = connect(to.port, to.host);
          direct.once('error', (error) => fail(messageOf(error)));
          direct.once('connect', () => {
            clearTimeout(timer);
            resolve(direct);
          });
          return;
        }
        fail(`tailscaled refuses the connection (${statusCode}): ${printable(said)}`);
      });
    });
    call.end();
  });
}

function printable(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}
