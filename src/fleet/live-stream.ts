import type { WebSocket } from 'ws';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { ServerAddress } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';
import { openWebSocket } from '../platform/web-socket-client.ts';
import type { Place } from './read-remote.ts';

/** Most bytes of one message; a daemon reports more than half a MiB of changes by their tag alone. */
const MOST_MESSAGE_BYTES = 2 * 1024 * 1024;
/** What one host may send in a second, so that it does not slow down others. */
const MOST_BYTES_A_SECOND = 8 * 1024 * 1024;
const MOST_MESSAGES_A_SECOND = 500;
const SECOND = 1_000;

export type StreamEvents = {
  /** A message, as parsed JSON. */
  message(value: unknown): void;
  /** The host answered a ping. */
  alive(): void;
  /** Called once, also where it never opened; not after `close`. */
  closed(why: string): void;
};

export type LiveStream = { close(): void };

export type StreamQuestion = {
  to: Place;
  /** Timeout until it is open, and until a ping is answered, in milliseconds. */
  timeout_ms: number;
  /** Interval of the pings, in milliseconds. */
  ping_ms: number;
};

/** Holds `GET /live` of another host. */
export function openLiveStream(
  { to, timeout_ms, ping_ms }: StreamQuestion,
  on: StreamEvents,
  clock: Clock,
): LiveStream {
  let socket: WebSocket | null = null;
  let is_over = false;
  let stopTimers = () => {};
  const end = () => {
    is_over = true;
    stopTimers();
    socket?.terminate();
  };
  const fail = (why: string) => {
    if (is_over) return;
    end();
    on.closed(why);
  };
  const flow = flowMeter(clock);
  const open = (server: ServerAddress) => {
    if (is_over) return;
    const opened = openWebSocket({
      ...{ to: server, path: '/api/v1/live', timeout_ms, most_bytes: MOST_MESSAGE_BYTES },
    });
    socket = opened;
    opened.on('error', ({ message }) => fail(message));
    opened.on('close', (code) => fail(`it closed the connection with code ${code}`));
    opened.on('unexpected-response', (_, { statusCode }) => fail(`it answers ${statusCode}`));
    opened.on('open', () => {
      let cancelWait: (() => void) | null = null;
      const stopPings = clock.every(ping_ms, () => {
        opened.ping();
        cancelWait ??= clock.after(timeout_ms, () => fail('it answers no ping'));
      });
      stopTimers = () => {
        stopPings();
        cancelWait?.();
      };
      opened.on('pong', () => {
        cancelWait?.();
        cancelWait = null;
        if (!is_over) on.alive();
      });
    });
    opened.on('message', (data, is_binary) => {
      if (is_over) return;
      const text = String(data);
      if (is_binary || !flow(Buffer.byteLength(text))) return fail('it sends more than this daemon accepts');
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return fail('it sent a message that is not JSON');
      }
      on.message(value);
    });
  };
  serverAt(to.address).then(open, (error: unknown) => fail(messageOf(error)));
  return { close: end };
}

/** False once more bytes arrive within a second than allowed. */
function flowMeter(clock: Clock): (bytes: number) => boolean {
  let from = clock.now();
  let messages = 0;
  let bytes = 0;
  return (length) => {
    const now = clock.now();
    if (now - from >= SECOND || now < from) [from, messages, bytes] = [now, 0, 0];
    messages += 1;
    bytes += length;
    return messages <= MOST_MESSAGES_A_SECOND && bytes <= MOST_BYTES_A_SECOND;
  };
}
