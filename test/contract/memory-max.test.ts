import { describe, expect, it } from 'vitest';
import { memoryBytes, memoryMaxSchema, showBytes } from '../../src/contract/memory-max.ts';

describe('a memory limit', () => {
  it.each([
    ['12 GB', 12e9],
    ['512MB', 512e6],
    ['1.5 GB', 1.5e9],
    ['50%', 12e9],
    ['off', null],
  ])('of %s is %s bytes on a machine with 24 GB', (text, bytes) => {
    expect(memoryMaxSchema.safeParse(text).success).toBe(true);
    expect(memoryBytes(text, 24e9)).toBe(bytes);
  });

  it.each(['', '12', '12 GiB', '-1 GB', '0 GB', '1 MB', '0%', '101%', 'on', 'GB'])('is never %j', (text) => {
    const parsed = memoryMaxSchema.safeParse(text);
    expect(parsed.error?.issues[0]?.message).toContain('must be a size such as "12 GB"');
  });

  it.each([
    [14e9, '14.0 GB'],
    [13_999_996_928, '14.0 GB'],
    [512e6, '512 MB'],
    [0, '0 MB'],
  ])('of %d bytes is shown as %s', (bytes, text) => {
    expect(showBytes(bytes)).toBe(text);
  });
});
