import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppServerAddress } from '../../config/app-server-address.ts';
import { encodeFrame, FrameReader, OPCODES } from './web-socket-frames.ts';

/** The longest message that is read or kept waiting to be sent, in bytes. */
export const MOST_BYTES = 16 * 1024 * 1024;
const PROTOCOL_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** An open connection that carries text messages. */
export type TextSocket = {
  /** Throws when the other side does not take what was sent before. */
  send(text: string): void;
  close(): void;
};

export type TextSocketEvents = { onText(text: string): void; onClose(reason: string): void };

/**
 * Connects to a WebSocket on a Unix socket or a local port; rejects when that takes longer than `timeout_ms`.
 * `onClose` is called once, and only after the promise was fulfilled.
 */
export function connectTextSocket(
  address: AppServerAddress,
  events: TextSocketEvents,
  timeout_ms: number,
): Promise<TextSocket> {
  const key = randomBytes(16).toString('base64');
  const accept = createHash('sha1').update(`${key}${PROTOCOL_GUID}`).digest('base64');
  return new Promise((resolve, reject) => {
    const upgrade = request({
      ...(address.kind === 'unix'
        ? { socketPath: address.path }
        : { host: address.host, port: address.port }),
      path: '/',
      agent: false,
      headers: {
        Host: 'localhost',
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': key,
        'Sec-WebSocket-Version': '13',
      },
    });
    const timer = setTimeout(
      () => upgrade.destroy(new Error(`no answer within ${timeout_ms} ms`)),
      timeout_ms,
    );
    upgrade.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    upgrade.on('response', (response) => {
      response.resume();
      upgrade.destroy(new Error(`it answered ${response.statusCode} and opened no WebSocket`));
    });
    upgrade.on('upgrade', (response, stream, head) => {
      clearTimeout(timer);
      if (response.headers['sec-websocket-accept'] !== accept) {
        stream.destroy();
        reject(new Error('it answered the WebSocket handshake wrongly'));
        return;
      }
      resolve(overStream(stream, head, events));
    });
    upgrade.end();
  });
}

function overStream(stream: Duplex, head: Buffer, events: TextSocketEvents): TextSocket {
  const frames = new FrameReader(MOST_BYTES);
  let message: Buffer[] = [];
  let length = 0;
  let closed = false;
  const close = (reason: string) => {
    if (closed) return;
    closed = true;
    stream.destroy();
    events.onClose(reason);
  };
  const take = (chunk: Buffer) => {
    try {
      for (const { final, opcode, payload } of frames.push(chunk)) {
        if (closed) return;
        if (opcode === OPCODES.ping) stream.write(encodeFrame(OPCODES.pong, payload));
        else if (opcode === OPCODES.close) return close('it closed the connection');
        else if (opcode === OPCODES.text || opcode === OPCODES.continuation) {
          length += payload.length;
          if (length > MOST_BYTES) return close(`it sent a message longer than ${MOST_BYTES} bytes`);
          message.push(payload);
          if (!final) continue;
          const text = Buffer.concat(message).toString('utf8');
          message = [];
          length = 0;
          events.onText(text);
        }
      }
    } catch (error) {
      close((error as Error).message);
    }
  };
  stream.on('data', take);
  stream.on('error', (error) => close(error.message));
  stream.on('end', () => close('it ended the connection'));
  stream.on('close', () => close('the connection is gone'));
  if (head.length > 0) queueMicrotask(() => take(head));
  return {
    send(text) {
      if (stream.writableLength > MOST_BYTES) {
        close('it does not read what is sent to it');
        throw new Error('it does not read what is sent to it');
      }
      stream.write(encodeFrame(OPCODES.text, Buffer.from(text)));
    },
    close: () => close('closed from here'),
  };
}
