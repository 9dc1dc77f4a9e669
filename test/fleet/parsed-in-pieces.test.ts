import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parsedInPieces } from '../../src/fleet/parsed-in-pieces.ts';

const schema = z.looseObject({
  host: z.string(),
  rows: z.array(z.object({ id: z.string(), tags: z.array(z.string()).optional() })),
});
const read = (text: string) => parsedInPieces(schema, Buffer.from(text));
const parse = (text: string) => {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

describe('an answer of another host that is parsed in pieces', () => {
  // Long enough that a list of a few of them has several pieces.
  const row = fc.record(
    {
      id: fc.string({ unit: 'binary' }).map((text) => text.repeat(500)),
      tags: fc.array(fc.string()),
      more: fc.anything(),
    },
    { requiredKeys: ['id'] },
  );
  const answer = fc.record({
    host: fc.string(),
    rows: fc.array(row, { maxLength: 40 }),
    more: fc.anything(),
  });

  it('[RPL-15] [TMP-8] is the value that it stands for, however its lists and maps lie in it', async () => {
    await fc.assert(
      fc.asyncProperty(answer, fc.constantFrom(undefined, 1), async (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const whole = parse(text);
        expect(await read(text)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  it('[RPL-15] [TMP-8] is refused where JSON would be, wherever a byte of it is another one', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ id: `${at}`.padEnd(100, '"[{,'), tags: [] }));
    const text = JSON.stringify({ host: 'b', other: [[], [1, {}]], rows, last: { a: [] } });
    expect(await read(text)).toEqual(parse(text));
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.constantFrom(...'{}[],:" \\x'), async (at, other) => {
        const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
        expect(await read(changed)).toEqual(parse(changed));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['commas without elements', `{"host":"b","rows":[${'{"id":"x"},'.repeat(5_000)}]}`],
    ['a list without an end', `{"host":"b","rows":[${'{"id":"x"},'.repeat(5_000)}`],
    ['an endless element', `{"host":"b","rows":[{"id":"${'x'.repeat(2_000_000)}"}]}`],
    ['an endless text beside its lists', `{"host":"b","rows":[],"x":"${'x'.repeat(2_000_000)}"}`],
    ['an endless number of lists', `{"host":"b","rows":[]${',"x":[]'.repeat(200_000)}}`],
    ['a list for an object', `[${'{"id":"x"},'.repeat(5_000)}{"id":"x"}]`],
  ])('[RPL-15] [TMP-8] is none with %s', async (_, text) => {
    expect(await read(text)).toBeUndefined();
  });

  it('[TMP-8] leaves the thread to others while it is read', async () => {
    const rows = Array.from({ length: 200_000 }, () => ({ id: 'x'.repeat(40) }));
    const bytes = Buffer.from(JSON.stringify({ host: 'b', rows }));
    let turns = 0;
    let is_read = false;
    const other = () => {
      turns += 1;
      if (!is_read) setImmediate(other);
    };
    setImmediate(other);
    const value = await parsedInPieces(schema, bytes);
    is_read = true;
    expect(value?.rows).toHaveLength(rows.length);
    expect(turns).toBeGreaterThan(10);
  });
});
