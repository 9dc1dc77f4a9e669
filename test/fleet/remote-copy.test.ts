import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { RemoteCopy } from '../../src/fleet/remote-copy.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

const whole = (tag: string | null, rows: readonly object[], more: object = {}) =>
  readFeedAnswer(toldWhole('host-b', tag, rows, more));
const delta = (tag: string, rows: readonly object[], removed: readonly string[] = []) =>
  readFeedAnswer(toldDelta('host-b', tag, rows, removed));
const pathOf = (id: string) => `/s/.fibers/${id}.md`;
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const json = (bytes: Uint8Array) => JSON.parse(textOf(bytes));

describe('the copy of the feed of another host', () => {
  it('[RPL-2] has the very bytes of its answer, in its order, also after changes', () => {
    const told = toldWhole('host-b', 't-1', [toldRow('a'), toldRow('c')]);
    const copy = new RemoteCopy(readFeedAnswer(told), 1);
    expect(textOf(copy.whole())).toBe(JSON.stringify(told));
    copy.apply(delta('t-2', [toldRow('b'), toldRow('c', { name: 'C' })], [pathOf('a')]), 2);
    const after = toldWhole('host-b', 't-2', [toldRow('b'), toldRow('c', { name: 'C' })]);
    expect(textOf(copy.whole())).toBe(JSON.stringify(after));
  });

  it('tells what changed after a number, and all of it from before the first', () => {
    const copy = new RemoteCopy(whole('t-1', [toldRow('a'), toldRow('b')]), 5);
    copy.apply(delta('t-2', [toldRow('a', { name: 'A' })]), 6);
    copy.apply(delta('t-3', [], [pathOf('b')]), 9);
    expect(json(copy.since(4))).toMatchObject({ whole: true, tag: 't-3' });
    expect(json(copy.since(5))).toEqual(
      toldDelta('host-b', 't-3', [toldRow('a', { name: 'A' })], [pathOf('b')]),
    );
    expect(json(copy.since(6))).toEqual(toldDelta('host-b', 't-3', [], [pathOf('b')]));
    expect(json(copy.since(9))).toEqual(toldDelta('host-b', 't-3', []));
  });

  it('does not change with an answer without news', () => {
    const copy = new RemoteCopy(whole('t-1', [toldRow('a')]), 1);
    expect(copy.apply(delta('t-1', []), 2)).toBe(false);
    expect(copy.apply(whole('t-1', [toldRow('a')]), 2)).toBe(false);
    expect(copy.last_change).toBe(1);
    expect(copy.apply(whole('t-2', [toldRow('a')]), 2)).toBe(true);
    expect(json(copy.since(1))).toEqual(toldDelta('host-b', 't-2', []));
  });

  it('[RTE-7] keeps its rows while that host has not listed its stores yet, and says so', () => {
    const copy = new RemoteCopy(whole('t-1', [toldRow('a')]), 1);
    expect(copy.apply(whole(null, [], { state: 'cold' }), 2)).toBe(true);
    expect(json(copy.since(1))).toMatchObject({
      state: 'cold',
      tag: null,
      whole: true,
      fibers: [{ id: 'a' }],
    });
    copy.apply(whole('n-1', []), 3);
    expect(json(copy.whole()).fibers).toEqual([]);
  });

  it('forgets old removals, and then sends all rows', () => {
    const rows = Array.from({ length: 1_002 }, (_, at) => toldRow(`r${at}`));
    const copy = new RemoteCopy(whole('t-1', rows), 1);
    for (const [at, row] of rows.entries()) copy.apply(delta(`t-${at + 2}`, [], [String(row.path)]), at + 2);
    expect(json(copy.since(2))).toMatchObject({ whole: true });
    expect(json(copy.since(3)).removed).toHaveLength(1_000);
  });

  it('[RPL-2] leaves who follows it with its rows, after any sequence of changes and however late', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({
      set: fc.array(fc.tuple(id, fc.nat(3)), { maxLength: 3 }),
      gone: fc.array(id, { maxLength: 2 }),
      all: fc.boolean(),
      reads: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const truth = new Map<string, object>([['a', toldRow('a')]]);
        const copy = new RemoteCopy(whole('t-0', [...truth.values()]), 1);
        let mine = new Map<string, unknown>();
        let seen = 0;
        steps.push({ set: [], gone: [], all: false, reads: true });
        steps.forEach(({ set, gone, all, reads }, at) => {
          for (const one of gone) truth.delete(one);
          for (const [one, value] of set) truth.set(one, toldRow(one, { value }));
          const tag = `t-${at + 1}`;
          const removed = gone.filter((one) => !truth.has(one)).map(pathOf);
          const changed = set.map(([one]) => truth.get(one)!);
          copy.apply(all ? whole(tag, [...truth.values()]) : delta(tag, changed, removed), at + 2);
          if (!reads) return;
          const told = json(copy.since(seen));
          seen = at + 2;
          if (told.whole) mine = new Map();
          for (const path of told.removed ?? []) mine.delete(path);
          for (const row of told.fibers ?? told.rows) mine.set(row.path, row);
        });
        const rows = (all: Iterable<unknown>) => [...all].map((row) => JSON.stringify(row)).sort();
        expect(rows(mine.values())).toEqual(rows(truth.values()));
        expect(rows(json(copy.whole()).fibers)).toEqual(rows(truth.values()));
      }),
    );
  });
});
