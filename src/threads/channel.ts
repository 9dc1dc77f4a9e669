import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/errors.ts';
import type { LentBytes } from '../base/lent-bytes.ts';
import type { Logger } from '../base/logger.ts';
import { bulkBuffer } from './bulk.ts';
import { decodeFrame, encodeFrame, type Frame } from './frame.ts';

type Receive = (frame: Frame, bulk: Uint8Array | null, parts: LentBytes[]) => void;
type Closed = (reason: Error | null) => void;

/** One end of a two-way channel of frames, each with optional bulk bytes that are transferred, never encoded. */
export type Channel = {
  /** Sends one frame; throws when it cannot be encoded; has no effect once closed. The other end is lent `parts`. */
  post(frame: Frame, bulk?: Uint8Array | null, parts?: readonly LentBytes[]): void;
  /** Sets the only receiver; it also gets the frames that arrived earlier. */
  onMessage(receive: Receive): void;
  close(reason?: Error): void;
  /** Calls back once when either end closes the channel; `reason` is null for an orderly close. */
  onClose(closed: Closed): void;
};

type Packet = { frame: Uint8Array<ArrayBuffer>; bulk: ArrayBuffer | null; parts: readonly LentBytes[] };

/** The transport that a channel needs for its packets. */
type Line = {
  send(packet: Packet, transfer: ArrayBuffer[]): void;
  /** Starts delivery. */
  open(arrive: (packet: unknown) => void): void;
  shut(): void;
};

function isPacket(value: unknown): value is Packet {
  if (typeof value !== 'object' || value === null) return false;
  if (!('frame' in value && 'bulk' in value && 'parts' in value)) return false;
  const { frame, bulk, parts } = value;
  return (
    frame instanceof Uint8Array && (bulk === null || bulk instanceof ArrayBuffer) && Array.isArray(parts)
  );
}

/** A channel over a transport, and the function that closes it when the transport ends. */
function channelOver(line: Line, logger: Logger): { channel: Channel; ended: Closed } {
  const closedListeners: Closed[] = [];
  let closed: { reason: Error | null } | null = null;
  const ended: Closed = (reason) => {
    if (closed !== null) return;
    closed = { reason };
    line.shut();
    for (const listener of closedListeners) listener(reason);
  };
  const arrive = (receive: Receive, packet: unknown): void => {
    if (closed !== null) return;
    let frame: Frame;
    try {
      if (!isPacket(packet)) throw new TypeError('A thread message is not a packet of frame and bulk');
      frame = decodeFrame(packet.frame);
    } catch (error) {
      logger.error(
        { err: error },
        'closing a thread channel: its other end sent a message that is not a frame',
      );
      ended(error instanceof Error ? error : new Error(messageOf(error)));
      return;
    }
    const bulk = packet.bulk === null ? null : new Uint8Array(packet.bulk);
    receive(frame, bulk, [...packet.parts]);
  };
  const channel: Channel = {
    post(frame, bulk = null, parts = []) {
      const bytes = encodeFrame(frame);
      if (closed !== null) return;
      const buffer = bulk === null ? null : bulkBuffer(bulk);
      const transfer = [bytes.buffer, ...(buffer === null ? [] : [buffer])];
      line.send({ frame: bytes, bulk: buffer, parts }, transfer);
    },
    onMessage: (receive) => line.open((packet) => arrive(receive, packet)),
    close: (reason) => ended(reason ?? null),
    onClose(listener) {
      if (closed === null) closedListeners.push(listener);
      else listener(closed.reason);
    },
  };
  return { channel, ended };
}

/** A channel over one end of a `MessageChannel`; it keeps its thread alive until it is closed. */
export function portChannel(port: MessagePort, logger: Logger): Channel {
  const { channel, ended } = channelOver(
    {
      send: (packet, transfer) => port.postMessage(packet, transfer),
      open: (arrive) => {
        port.on('message', arrive);
      },
      shut: () => port.close(),
    },
    logger,
  );
  port.on('messageerror', (error) => ended(error));
  port.on('close', () => ended(null));
  return channel;
}

/**
 * Two connected channels inside one thread. They encode, transfer and deliver asynchronously like a real port, so that
 * a test exercises msgpack and detached buffers.
 */
export function channelPair(logger: Logger): [Channel, Channel] {
  const [left, right] = [new PairLine(), new PairLine()];
  const first = channelOver(left, logger);
  const second = channelOver(right, logger);
  left.join(right, second.ended);
  right.join(left, first.ended);
  return [first.channel, second.channel];
}

class PairLine implements Line {
  #arrive: ((packet: unknown) => void) | null = null;
  #waiting: unknown[] = [];
  #other: PairLine | null = null;
  #endOther: Closed = () => undefined;

  join(other: PairLine, endOther: Closed): void {
    this.#other = other;
    this.#endOther = endOther;
  }

  send(packet: Packet, transfer: ArrayBuffer[]): void {
    const copy = structuredClone(packet, { transfer });
    queueMicrotask(() => this.#other?.deliver(copy));
  }

  deliver(packet: unknown): void {
    if (this.#arrive === null) this.#waiting.push(packet);
    else this.#arrive(packet);
  }

  open(arrive: (packet: unknown) => void): void {
    this.#arrive = arrive;
    for (const packet of this.#waiting.splice(0)) arrive(packet);
  }

  shut(): void {
    queueMicrotask(() => this.#endOther(null));
  }
}
