import { describe, expect, it } from 'vitest';
import { bulkBuffer } from '../../src/threads/bulk.ts';

describe('bulk bytes', () => {
  it('that fill their buffer are transferred', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    expect(bulkBuffer(bytes)).toBe(bytes.buffer);
  });

  it('that are part of a larger, pooled or shared buffer are copied', () => {
    const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    const pooled = Buffer.from('ab');
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    for (const bytes of [part, pooled, shared]) {
      const buffer = bulkBuffer(bytes);
      expect(buffer).not.toBe(bytes.buffer);
      expect([...new Uint8Array(buffer)]).toEqual([...bytes]);
    }
  });
});
