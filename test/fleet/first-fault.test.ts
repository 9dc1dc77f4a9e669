import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { parsedUntilFault } from '../../src/fleet/first-fault.ts';

const schema = z.object({
  host: z.string(),
  rows: z.array(z.object({ id: z.number(), tags: z.array(z.string()).optional() })),
  removed: z.array(z.string()).nullable(),
  more: z.looseObject({ files: z.array(z.string()).default([]) }).optional(),
});

describe('a value of another host', () => {
  it('is accepted and refused as zod does', () => {
    const text = fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.integer());
    const told = fc.record(
      {
        host: text,
        rows: fc.array(fc.record({ id: fc.integer(), tags: fc.array(text) }, { requiredKeys: ['id'] })),
        removed: fc.oneof(fc.array(text), fc.constant(null), fc.constant(7)),
        more: fc.record({ files: fc.array(text), other: fc.anything() }, { requiredKeys: [] }),
        unknown: fc.anything(),
      },
      { requiredKeys: ['host', 'rows', 'removed'] },
    );
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: told }, fc.anything()), (value) => {
        const { success, data } = schema.safeParse(value);
        expect(parsedUntilFault(schema, value)).toEqual(success ? data : undefined);
      }),
    );
  });

  it('is looked at no further than its first wrong element, wherever its list is', () => {
    let looked = 0;
    const counted = z.custom<number>((value) => {
      looked += 1;
      return typeof value === 'number';
    });
    const wrong = Array.from({ length: 10_000 }, () => 'x');
    expect(parsedUntilFault(z.object({ a: z.array(counted) }), { a: wrong })).toBe(undefined);
    const rows = z.object({ rows: z.array(z.object({ a: z.array(counted).optional() })) });
    expect(parsedUntilFault(rows, { rows: wrong.map(() => ({ a: wrong })) })).toBe(undefined);
    expect(looked).toBe(2);
  });

  it('[RTE-7] is no feed where it tells millions of removed paths that are no texts', () => {
    const removed = Array.from({ length: 2_000_000 }, () => 1);
    const answer = { host: 'host-b', state: 'fresh', generated_at: 1, tag: 't', rows: [], removed };
    expect(() => readFeedAnswer(answer)).toThrow('its answer is not a feed of fibers');
  });
});
