import { describe, expect, it } from 'vitest';
import { BodyBytes } from '../../src/http/body-bytes.ts';

const MB = 1024 * 1024;

/** Gathers text in pieces of a buffer that is overwritten after each, as a transport lends them. */
function gathered(text: Buffer, piece_bytes: number, length: number | null): Uint8Array {
  const body = new BodyBytes(length);
  for (let from = 0; from < text.length; from += piece_bytes) {
    const lent = Uint8Array.from(text.subarray(from, from + piece_bytes));
    body.add(lent);
    lent.fill(0);
  }
  expect(body.size).toBe(text.length);
  return body.take();
}

describe('the bytes of a body', () => {
  it.each([
    ['nothing', 0],
    ['one piece', 1_000],
    ['less than is proof', 200_000],
    ['just what is proof', 256 * 1024],
    ['many pieces', MB + 17],
  ])('arrive unchanged, over a buffer that can be transferred to a thread: %s', (_name, size) => {
    const text = Buffer.alloc(size, 'abcdefghijklm');
    for (const length of [size, null, size + 10])
      for (const piece_bytes of [65_536, 1_000, 2 * MB]) {
        const body = gathered(text, piece_bytes, length);
        expect(text.equals(body), `${length} announced, pieces of ${piece_bytes}`).toBe(true);
        expect(body.buffer.byteLength).toBe(size);
        expect(() => structuredClone(body.buffer, { transfer: [body.buffer as ArrayBuffer] })).not.toThrow();
      }
  });

  it('that were announced and did not arrive use no memory', () => {
    const body = new BodyBytes(2 ** 50);
    body.add(Buffer.alloc(1_000, 'x'));
    expect(body.take().length).toBe(1_000);
  });
});
