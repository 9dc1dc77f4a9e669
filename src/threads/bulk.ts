import { isMarkedAsUntransferable } from 'node:worker_threads';
import type { LentBytes } from '../base/lent-bytes.ts';

/**
 * The buffer that carries these bytes to another thread. Bytes that fill their whole buffer are transferred (the
 * caller's view is empty afterwards). A part of a larger or shared buffer is copied, because a transfer would take the
 * rest of the buffer too.
 */
export function bulkBuffer(bytes: Uint8Array): ArrayBuffer {
  const buffer = bytes.buffer;
  const whole =
    buffer instanceof ArrayBuffer &&
    bytes.byteOffset === 0 &&
    bytes.byteLength === buffer.byteLength &&
    !buffer.resizable &&
    !isMarkedAsUntransferable(buffer);
  return whole ? buffer : new Uint8Array(bytes).buffer;
}

/** A handler's answer with bulk bytes in addition to its value. */
export class WithBulk<T> {
  readonly value: T;
  readonly bytes: Uint8Array;

  constructor(value: T, bytes: Uint8Array) {
    this.value = value;
    this.bytes = bytes;
  }
}

/** Makes an answer with bulk bytes; they are transferred if they fill their buffer (see `bulkBuffer`). */
export function withBulk<T>(value: T, bytes: Uint8Array): WithBulk<T> {
  return new WithBulk(value, bytes);
}

/** A handler's answer with several parts of bytes that are lent to the caller: no byte of them is copied. */
export class WithParts<T> {
  readonly value: T;
  readonly parts: readonly LentBytes[];

  constructor(value: T, parts: readonly LentBytes[]) {
    this.value = value;
    this.parts = parts;
  }
}
