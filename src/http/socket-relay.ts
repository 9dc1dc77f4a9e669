import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { HOPS_HEADER } from '../contract/http/forwarding.ts';
import { placeOf, type RemoteAddress } from '../contract/remote-address.ts';
import { serverAt } from '../platform/own-socket.ts';
import { openWebSocket } from '../platform/web-socket-client.ts';
import type { RequestHead } from './request-head.ts';
import type { Socket, SocketHandler, SocketRow, SocketRules } from './socket.ts';

/** Until the other host has taken the connection over, in milliseconds. */
const OPEN_MS = 10_000;
/** Between two pings to it; one that has answered none until the next one is gone. */
const PING_MS = 10_000;
/** Messages that may wait for the other host, in those of the longest kind. */
const MOST_WAITING = 4;
/** What a message that waits takes of memory beside its bytes. */
const WAITING_MESSAGE_BYTES = 64;
/** Clients of one row whose sockets are passed on at one time. */
const MOST_RELAYED = 32;
/** Of an answer that is no WebSocket. */
const MOST_REFUSAL_BYTES = 16 * 1024;

/** The other host did not take the connection over, or it broke; the reason says which. */
const NOT_RELAYED = 4503;
/** That host ended it with a code that may not be sent on. */
const ENDED_OTHERWISE = 1011;

/** A WebSocket for another host. */
export type ForeignSocket = {
  /** The host that asks, and the id of its request. */
  from: { host: string; id: string };
  head: Pick<RequestHead, 'path' | 'query'>;
  /** The hosts that passed it on before this one. */
  hops: readonly string[];
  /** `silent` aborts once that host is known to answer nobody any more. */
  to: { host: string; address: RemoteAddress; silent?: AbortSignal | undefined };
};

const relayed = new WeakMap<SocketRow, SocketRules>();

/** The row of a client whose socket is passed on; they are counted apart from those that end here. */
export function relayRow(row: SocketRow): SocketRules {
  const known = relayed.get(row);
  if (known !== undefined) return known;
  const { sends, takes, unsent_bytes, most } = row;
  // Its messages are judged where they are for.
  const any = takes === null || takes.message === 'bytes' ? takes : { ...takes, message: z.unknown() };
  const made = { sends, takes: any, unsent_bytes, most: Math.min(most, MOST_RELAYED) };
  relayed.set(row, made);
  return made;
}

/**
 * Passes a WebSocket on to another host, both ways. The other host is read no faster than the client takes it, so that it
 * sees a slow reader as if it were its own; its close code and reason are those of the client.
 */
export function relaySocket(
  foreign: ForeignSocket,
  row: SocketRules,
  client: Socket,
  clock: Clock,
): SocketHandler {
  const { host, address, silent } = foreign.to;
  let far: WebSocket | null = null;
  let is_over = false;
  /** What the client sent before the other host was there. */
  let early: (Uint8Array | string)[] = [];
  let early_bytes = 0;
  let stopPings = () => {};
  const most_waiting = MOST_WAITING * ((row.takes?.most_bytes ?? 0) + WAITING_MESSAGE_BYTES);

  const end = () => {
    is_over = true;
    early = [];
    stopPings();
    silent?.removeEventListener('abort', onSilent);
    far?.terminate();
  };
  const close = (code: number, reason: string) => {
    if (is_over) return;
    end();
    client.close(code, reason);
  };
  const fail = (why: string) => close(NOT_RELAYED, `${host} at ${placeOf(address)}: ${why}`);
  const onSilent = () => fail('it answers nobody any more');

  const open = (socket: WebSocket) => {
    far = socket;
    socket.on('error', ({ message }) => fail(message));
    socket.on('unexpected-response', (_, response) => void refusalIn(response).then(fail));
    socket.on('close', (code, reason) => {
      if (code === 1005 || code === 1006) fail('the connection to it broke');
      else close(maySend(code) ? code : ENDED_OTHERWISE, reason.toString());
    });
    socket.on('open', () => {
      for (const data of early) socket.send(data);
      early = [];
      let answered = true;
      stopPings = clock.every(PING_MS, () => {
        // Nothing is read of it while the client takes nothing.
        if (socket.isPaused) return;
        if (!answered) return fail('it answers no ping');
        answered = false;
        socket.ping();
      });
      socket.on('pong', () => {
        answered = true;
      });
    });
    socket.on('message', (data: Buffer, binary) => {
      if (is_over) return;
      if (binary !== (row.sends === 'bytes')) return fail('it sent a message of another kind');
      client.send(data);
      if (client.unsent > 0) socket.pause();
    });
  };

  silent?.addEventListener('abort', onSilent, { once: true });
  serverAt(address).then(
    (to) => {
      if (!is_over)
        open(
          openWebSocket({ to, ...questionOf(foreign), timeout_ms: OPEN_MS, most_bytes: row.unsent_bytes }),
        );
    },
    (error: unknown) => fail(messageOf(error)),
  );
  return {
    message(value) {
      const data =
        row.takes?.message === 'bytes' ? new Uint8Array(value as Uint8Array) : JSON.stringify(value);
      const bytes = data.length + WAITING_MESSAGE_BYTES;
      const isOpen = far?.readyState === 1;
      if ((isOpen ? far!.bufferedAmount : early_bytes) + bytes > most_waiting)
        return close(1013, `${host} takes what is sent to it too slowly.`);
      if (isOpen) far!.send(data);
      else {
        early.push(data);
        early_bytes += bytes;
      }
    },
    drained() {
      far?.resume();
    },
    closed: end,
  };
}

function questionOf({ from, head, hops }: ForeignSocket) {
  return {
    path: head.query === '' ? head.path : `${head.path}?${head.query}`,
    headers: { [HOPS_HEADER]: [...hops, from.host].join(', '), 'x-request-id': from.id },
  };
}

/** What the other host says instead of taking it over, in a few words. */
async function refusalIn(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > MOST_REFUSAL_BYTES) break;
    }
    const said = refusedSchema.safeParse(JSON.parse(text)).data;
    if (said !== undefined) return said.message;
  } catch {
    // Its status says enough.
  }
  return `it refused with ${response.statusCode}`;
}

const refusedSchema = z.object({ message: z.string() });

/** The codes that an endpoint may send in a close frame. */
function maySend(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1011) || (code >= 3000 && code <= 4999);
}
