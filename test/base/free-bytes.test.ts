import { expect, it } from 'vitest';
import { freeBytes } from '../../src/base/free-bytes.ts';

it('frees bytes that fill their buffer', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  freeBytes(bytes);
  expect(bytes).toHaveLength(0);
  expect(bytes.buffer.detached).toBe(true);
  freeBytes(bytes);
});

it('leaves bytes alone whose buffer holds others too', () => {
  const all = Uint8Array.of(1, 2, 3);
  freeBytes(all.subarray(1));
  expect([...all]).toEqual([1, 2, 3]);
});
