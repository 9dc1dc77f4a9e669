import { LENT_HEAD_BYTES, type LentBytes, lend } from '../../src/base/lent-bytes.ts';

/** Encoded rows, each with a comma before it, as the fleet thread lends them. */
export function lentRows(rows: string): LentBytes {
  const text = new TextEncoder().encode(rows === '' ? '' : `,${rows}`);
  const bytes = new Uint8Array(new SharedArrayBuffer(LENT_HEAD_BYTES + text.length), LENT_HEAD_BYTES);
  bytes.set(text);
  return lend(bytes);
}
