import { request } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../base/errors.ts';

/** Until a connection is made, in milliseconds. */
const DIAL_MS = 5_000;
/** Far more than the reason of a refusal. */
const MOST_REASON_BYTES = 4 * 1024;
/** tailscaled answers to no other name, so that no web page can speak with it. */
export const TAILSCALED_NAME = 'local-tailscaled.sock';

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
        Host: TAILSCALED_NAME,
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
