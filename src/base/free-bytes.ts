/**
 * Gives the memory of these bytes back at once: the engine alone would do so when it next runs short, and what it frees
 * that late the C library keeps. The view is empty afterwards. Bytes that are part of a larger buffer are left alone.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer) || buffer.detached) return;
  if (buffer.byteLength === bytes.byteLength) buffer.transfer(0);
}
