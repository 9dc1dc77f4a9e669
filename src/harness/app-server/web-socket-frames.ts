import { randomBytes } from 'node:crypto';

/** Frames of RFC 6455 as a client writes and reads them. */
export const OPCODES = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

export type Frame = { final: boolean; opcode: number; payload: Buffer };

/** One whole frame, masked as a client must. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | length])
      : length < 65_536
        ? Buffer.from([0x80 | opcode, 0x80 | 126, length >> 8, length & 0xff])
        : longHead(opcode, length);
  const mask = randomBytes(4);
  const masked = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += 1) masked[at] = payload[at]! ^ mask[at % 4]!;
  return Buffer.concat([head, mask, masked]);
}

function longHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/**
 * Cuts a byte stream into frames. Throws for a frame that is longer than `most` bytes, is masked, or uses a
 * reserved bit: no server that keeps to the protocol sends one.
 */
export class FrameReader {
  readonly #most: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | null {
    const head = this.#peek(10);
    if (head.length < 2) return null;
    const short = head[1]! & 0x7f;
    if ((head[0]! & 0x70) !== 0 || (head[1]! & 0x80) !== 0) throw new Error('a frame breaks the protocol');
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (head.length < start) return null;
    const length =
      short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short;
    if (length > this.#most) throw new Error(`a frame of ${length} bytes is longer than ${this.#most}`);
    if (this.#length < start + length) return null;
    const whole = this.#take(start + length);
    return {
      final: (whole[0]! & 0x80) !== 0,
      opcode: whole[0]! & 0x0f,
      payload: whole.subarray(start),
    };
  }

  /** At most `count` bytes from the front, joined only as far as they are needed. */
  #peek(count: number): Buffer {
    const first = this.#chunks[0];
    if (first === undefined) return Buffer.alloc(0);
    if (first.length >= count || this.#chunks.length === 1) return first.subarray(0, count);
    return Buffer.concat(this.#chunks).subarray(0, count);
  }

  #take(count: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#length -= count;
    this.#chunks = this.#length === 0 ? [] : [all.subarray(count)];
    return all.subarray(0, count);
  }
}
