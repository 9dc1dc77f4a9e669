import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldScan } from '../../src/http/field-scan.ts';

function scan(text: string | Uint8Array, cuts: readonly number[] = []): FieldScan {
  const bytes = Buffer.from(text as Uint8Array);
  const found = new FieldScan('origin');
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  ends.forEach((end, index) => {
    found.feed(bytes.subarray(ends[index - 1] ?? 0, end));
  });
  return found;
}

/** Objects that often have an `origin`, at the top or below it, and texts that look like one. */
const key = fc.oneof(fc.constant('origin'), fc.constantFrom('origi', '"origin":', 'a\\', ''), fc.string());
const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('{"origin":"x"}', '\\', '"', '\\"origin\\":'),
  fc.double(),
  fc.constant(null),
  fc.boolean(),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(key, tie('value'))),
}));

describe('the origin of a body that comes in pieces', () => {
  it('is what JSON.parse finds, wherever the body is cut and however it is written', () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, value),
        fc.array(fc.nat()),
        fc.constantFrom('', ' ', '\n\t'),
        fc.boolean(),
        (object, cuts, space, escaped) => {
          let text = JSON.stringify(object, null, space);
          if (escaped)
            text = text.replaceAll(/[a-z]/g, (letter) =>
              text.includes('\\') ? letter : `\\u00${letter.charCodeAt(0).toString(16)}`,
            );
          let read: Record<string, unknown>;
          try {
            read = JSON.parse(text);
          } catch {
            // Escapes outside of strings: `true` and `null`.
            return;
          }
          const origin = Object.getOwnPropertyDescriptor(read, 'origin')?.value;
          const found = scan(text, cuts);
          expect([found.value, found.ambiguous]).toEqual([
            typeof origin === 'string' ? origin.toWellFormed() : undefined,
            false,
          ]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is known as soon as it has arrived', () => {
    const found = new FieldScan('origin');
    found.feed(Buffer.from('{"fiber":"a","origin":"host-'));
    expect(found.value).toBeUndefined();
    found.feed(Buffer.from('b"'));
    expect(found.value).toBe('host-b');
  });

  it.each([
    ['{"origin":"a","origin":"b"}', 'a', true],
    ['{"origin":1,"origin":"b"}', 'b', true],
    ['{"origin":{"origin":"a"}}', undefined, false],
    ['["origin","a"]', undefined, false],
    ['"origin"', undefined, false],
    ['', undefined, false],
    ['{"origin":"\\', undefined, false],
  ])('of %s is %s', (text, origin, ambiguous) => {
    expect(scan(text)).toMatchObject({ value: origin, ambiguous });
  });

  it.each([
    ['backslashes and no quote', Buffer.alloc(8_000_000, '\\')],
    ['escaped quotes', Buffer.alloc(8_000_000, '\\"')],
    ['one long name', Buffer.alloc(8_000_000, 'x')],
  ])('costs no more than a look at each byte, and holds little, for a string of %s', (_, filler) => {
    const found = new FieldScan('origin');
    found.feed(Buffer.from('{"'));
    for (let at = 0; at < filler.length; at += 500_000) found.feed(filler.subarray(at, at + 500_000));
    found.feed(Buffer.from('":1,"origin":"host-b"}'));
    expect(found.value).toBe('host-b');
  });
});
