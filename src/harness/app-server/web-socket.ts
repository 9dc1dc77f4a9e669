import { connect } from 'node:net';
import { WebSocket } from 'ws';
import type { AppServerAddress } from '../../config/app-server-address.ts';

/** Limit of a received message, and of the data queued for sending, in bytes. */
export const MOST_BYTES = 16 * 1024 * 1024;

/** An open connection that carries text messages. */
export type TextSocket = {
  /** Throws if the connection is closed, or if the other side does not read what was sent. */
  send(text: string): void;
  close(): void;
};

export type TextSocketEvents = { onText(text: string): void; onClose(reason: string): void };

/**
 * Connects to a WebSocket on a Unix socket or a local port; rejects after `timeout_ms`. `onClose` is called once, and
 * only after the promise was fulfilled.
 */
export function connectTextSocket(
  address: AppServerAddress,
  events: TextSocketEvents,
  timeout_ms: number,
): Promise<TextSocket> {
  const socket = new WebSocket('ws://localhost/', {
    headers: { Host: 'localhost' },
    perMessageDeflate: false,
    maxPayload: MOST_BYTES,
    // In an address, the library would end the path at its first colon.
    createConnection: () =>
      address.kind === 'unix' ? connect(address.path) : connect(address.port, address.host),
  });
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(reason));
      socket.terminate();
    };
    const timer = setTimeout(() => fail(`no answer within ${timeout_ms} ms`), timeout_ms);
    socket.on('error', (error) => fail(error.message));
    socket.once('unexpected-response', (_request, { statusCode }) =>
      fail(`it answered ${statusCode} instead of opening a WebSocket`),
    );
    socket.once('open', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(overSocket(socket, events));
    });
  });
}

function overSocket(socket: WebSocket, events: TextSocketEvents): TextSocket {
  let closed = false;
  const close = (reason: string) => {
    if (closed) return;
    closed = true;
    socket.terminate();
    events.onClose(reason);
  };
  socket.on('message', (data, binary) => {
    if (!closed && !binary) events.onText(String(data));
  });
  socket.on('error', ({ message, code }: NodeJS.ErrnoException) =>
    close(
      code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
        ? `it sent a message longer than ${MOST_BYTES} bytes`
        : message,
    ),
  );
  socket.on('close', (code) => close(closedBy(code)));
  return {
    send(text) {
      const fault = closed
        ? 'the connection is closed'
        : socket.bufferedAmount > MOST_BYTES
          ? 'it does not read what is sent to it'
          : null;
      if (fault === null) {
        socket.send(text);
        return;
      }
      close(fault);
      throw new Error(fault);
    },
    close: () => close('we closed it'),
  };
}

/** Codes that no close frame carries: the frame had none, and there was no frame. */
const [NO_CODE, NO_CLOSE_FRAME] = [1005, 1006];

function closedBy(code: number): string {
  if (code === NO_CLOSE_FRAME) return 'it cut the connection, as when its program dies';
  return code === NO_CODE ? 'it closed the connection' : `it closed the connection with code ${code}`;
}
