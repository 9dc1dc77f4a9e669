import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { NodeWebSockets } from '../../src/http/node-web-sockets.ts';
import type { Wire } from '../../src/http/socket.ts';
import { pause, until } from '../kit/until.ts';

/** A connection whose writes wait until a test lets them go on. */
class SlowSocket extends Socket {
  readonly waiting: (() => void)[] = [];

  override _read(): void {
    // The test pushes what the client says.
  }

  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.waiting.push(done);
  }

  override _writev(_chunks: unknown, done: () => void): void {
    this.waiting.push(done);
  }

  /** Lets one write go on at a time, each in a turn of its own. */
  async takeAll(): Promise<void> {
    await until('all to be taken', () => {
      this.waiting.shift()?.();
      return this.writableLength === 0;
    });
  }
}

const PING = Buffer.from([0x89, 0x81, 0, 0, 0, 0, 0x78]);

it.each([
  ['nothing', () => undefined],
  ['a ping of the server', (wire: Wire) => wire.ping()],
  ['the answer to a ping of the client', (_wire: Wire, socket: SlowSocket) => socket.push(PING)],
])('tells that a client has taken everything, behind the last message: %s', async (_what, behind) => {
  const socket = new SlowSocket();
  const request = new IncomingMessage(socket);
  request.method = 'GET';
  Object.assign(request.headers, {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  });
  let [wire, drained]: [Wire | null, number] = [null, 0];
  new NodeWebSockets({ longest_message: 125 }).upgrade(request, socket, Buffer.alloc(0), (given) => {
    wire = given;
    const nothing = () => undefined;
    return {
      ...{ opened: nothing, message: nothing, pong: nothing, closed: nothing },
      drained: () => {
        drained += 1;
      },
    };
  });
  await until('the upgrade', () => wire !== null);
  await socket.takeAll();
  wire!.send(Buffer.alloc(1_000, 97), false);
  expect(wire!.buffered()).toBeGreaterThan(1_000);
  behind(wire!, socket);
  await pause(20);
  drained = 0;
  await socket.takeAll();
  await until('the word of it', () => drained > 0);
  expect(wire!.buffered()).toBe(0);
  socket.destroy();
});
