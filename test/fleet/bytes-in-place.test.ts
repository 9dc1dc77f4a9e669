import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { giveBack, isLent, type LentBytes } from '../../src/base/lent-bytes.ts';
import { BytesInPlace } from '../../src/fleet/bytes-in-place.ts';

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
        const bytes = new BytesInPlace();
        let truth = '';
        const lent: { view: LentBytes; text: string }[] = [];
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
          } else if (one.do === 'lend') lent.push({ view: bytes.lend(), text: truth });
          else {
            const [gone] = lent.splice(one.which % Math.max(1, lent.length), 1);
            if (gone !== undefined) giveBack(gone.view);
          }
          expect(textOf(bytes.all)).toBe(truth);
          for (const { view, text } of lent) expect(textOf(view)).toBe(text);
        }
      }),
    );
  });

  it('move while they are lent, and use the same two memories in turn from then on', () => {
    const bytes = new BytesInPlace();
    const memories = new Set<SharedArrayBuffer>();
    let before: LentBytes | null = null;
    for (let edit = 0; edit < 10; edit += 1) {
      bytes.splice(0, 0, Buffer.from('row'));
      const view = bytes.lend();
      if (before !== null) giveBack(before);
      before = view;
      memories.add(view.buffer);
    }
    expect(memories.size).toBe(2);
  });

  it('are changed where they are while nobody reads them', () => {
    const bytes = new BytesInPlace();
    bytes.splice(0, 0, Buffer.alloc(100_000, 'a'));
    const memory = bytes.all.buffer;
    for (let edit = 0; edit < 100; edit += 1) bytes.splice(edit, 1, Buffer.from('bb'));
    expect(bytes.all.buffer).toBe(memory);
    const view = bytes.lend();
    expect(isLent(memory)).toBe(true);
    giveBack(view);
    expect(isLent(memory)).toBe(false);
  });

  it('take no more than twice their memory after most of them are gone', () => {
    const bytes = new BytesInPlace();
    bytes.splice(0, 0, Buffer.alloc(1_000_000));
    bytes.splice(0, 900_000, Buffer.alloc(0));
    expect(bytes.all.buffer.byteLength).toBeLessThanOrEqual(2 * 120_000);
  });
});
