import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LentBytes, Loan } from '../../src/base/lent-bytes.ts';
import { BytesInPlace, SpareMemories } from '../../src/fleet/bytes-in-place.ts';

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('bytes that are changed in place', () => {
  it('[RPL-2] stay as they were lent, whatever is changed and given back meanwhile', () => {
    const step = fc.oneof(
      fc.record({
        ...{ do: fc.constant('splice' as const), at: fc.nat(99), gone: fc.nat(40) },
        put: fc.string({ maxLength: 60 }),
      }),
      fc.record({ do: fc.constant('become' as const), long: fc.boolean() }),
      fc.record({ do: fc.constant('lend' as const) }),
      fc.record({ do: fc.constant('give back' as const), which: fc.nat(9) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bytes = new BytesInPlace(new SpareMemories());
        let truth = '';
        const lent: { view: LentBytes; loan: Loan; text: string }[] = [];
        for (const one of steps) {
          if (one.do === 'splice') {
            const at = Math.min(one.at, truth.length);
            const gone = Math.min(one.gone, truth.length - at);
            const put = Buffer.from(one.put, 'latin1').toString('hex');
            bytes.splice(at, gone, Buffer.from(put));
            truth = truth.slice(0, at) + put + truth.slice(at + gone);
          } else if (one.do === 'become') {
            const more = one.long ? 'x'.repeat(40_000) : 'yz';
            const half = truth.length >> 1;
            bytes.become([Buffer.from(more), bytes.all.subarray(half)]);
            truth = more + truth.slice(half);
          } else if (one.do === 'lend') {
            const view = bytes.lend();
            lent.push({ view, loan: new Loan(view), text: truth });
          } else {
            const [gone] = lent.splice(one.which % Math.max(1, lent.length), 1);
            gone?.loan.giveBack();
          }
          expect(textOf(bytes.all)).toBe(truth);
          for (const { view, text } of lent) expect(textOf(view)).toBe(text);
        }
      }),
    );
  });

  it('move while they are lent, and use the same two memories in turn from then on', () => {
    const bytes = new BytesInPlace(new SpareMemories());
    const memories = new Set<SharedArrayBuffer>();
    let before: Loan | null = null;
    for (let edit = 0; edit < 10; edit += 1) {
      bytes.splice(0, 0, Buffer.from('row'));
      const loan = new Loan(bytes.lend());
      before?.giveBack();
      before = loan;
      memories.add(loan.bytes.buffer);
    }
    expect(memories.size).toBe(2);
  });

  it('are changed where they are while nobody reads them', () => {
    const bytes = new BytesInPlace(new SpareMemories());
    bytes.splice(0, 0, Buffer.alloc(100_000, 'a'));
    const memory = bytes.all.buffer;
    for (let edit = 0; edit < 100; edit += 1) bytes.splice(edit, 1, Buffer.from('bb'));
    expect(bytes.all.buffer).toBe(memory);
    new Loan(bytes.lend()).giveBack();
    bytes.splice(0, 1, Buffer.from('c'));
    expect(bytes.all.buffer).toBe(memory);
  });

  it('leave what they were in to others of about their size, once it is given back', () => {
    const spares = new SpareMemories();
    const [first, second, small] = Array.from({ length: 3 }, () => new BytesInPlace(spares));
    first!.splice(0, 0, Buffer.alloc(100_000, 'a'));
    const loan = new Loan(first!.lend());
    first!.splice(0, 1, Buffer.from('b'));
    second!.splice(0, 0, Buffer.alloc(90_000, 'c'));
    expect(second!.all.buffer).not.toBe(loan.bytes.buffer);
    loan.giveBack();
    small!.become([Buffer.alloc(100)]);
    expect(small!.all.buffer).not.toBe(loan.bytes.buffer);
    second!.become([Buffer.alloc(95_000, 'd')]);
    expect(second!.all.buffer).toBe(loan.bytes.buffer);
    expect(loan.hold()).toBe(false);
  });

  it('leave no more than 4 MiB, but for the last', () => {
    const spares = new SpareMemories();
    const left = (size: number) => {
      const bytes = new BytesInPlace(spares);
      bytes.become([Buffer.alloc(size)]);
      const { buffer } = bytes.all;
      bytes.become([Buffer.alloc(10)]);
      return buffer;
    };
    const taken = (size: number) => spares.change(size, () => undefined);
    const [first, second] = [left(3_900_000), left(1_500_000)];
    expect([taken(3_900_000), taken(1_500_000)]).toEqual([null, second]);
    const large = left(9_000_000);
    expect(taken(9_000_000)).toBe(large);
    expect(first.byteLength).toBeGreaterThan(3_900_000);
  });

  it('take no more than twice their memory after most of them are gone', () => {
    const bytes = new BytesInPlace(new SpareMemories());
    bytes.splice(0, 0, Buffer.alloc(1_000_000));
    bytes.splice(0, 900_000, Buffer.alloc(0));
    expect(bytes.all.buffer.byteLength).toBeLessThanOrEqual(2 * 120_000);
  });
});
