import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * The buffer that carries these bytes to another thread. Bytes that fill a buffer of their own are given
 * away (the caller's view is empty afterwards); a part of a larger or shared buffer is copied, because a
 * transfer would take its neighbours along.
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

/** A handler's answer that has bulk bytes beside its value. */
export class WithBulk<T> {
  readonly value: T;
  readonly bytes: Uint8Array;

  constructor(value: T, bytes: Uint8Array) {
    this.value = value;
    this.bytes = bytes;
  }
}

/** An answer with bulk bytes; the bytes are given away when they fill their buffer (see `bulkBuffer`). */
export function withBulk<T>(value: T, bytes: Uint8Array): WithBulk<T> {
  return new WithBulk(value, bytes);
}
