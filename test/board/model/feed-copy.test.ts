import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyAnswer, applyMessage, type FeedCopy } from '../../../board/src/model/feed-copy.ts';
import type { FiberRow, FibersDelta, FibersWhole } from '../../../board/src/model/wire.ts';
import { row } from './rows.ts';

const whole = (fibers: FiberRow[], of: Partial<FibersWhole> = {}): FibersWhole => ({
  host: 'host-a',
  state: 'fresh',
  generated_at: 1,
  tag: 't-1',
  whole: true,
  fibers,
  ...of,
});
const delta = (rows: FiberRow[], removed: string[], tag = 't-2'): FibersDelta => ({
  host: 'host-a',
  state: 'fresh',
  generated_at: 2,
  tag,
  rows,
  removed,
});
const pathOf = (id: string) => row({ id }).path;

describe('a copy of the feed', () => {
  it('takes a whole answer in the place of everything, and a change row by row', () => {
    const first = applyAnswer(null, whole([row({ id: 'a' }), row({ id: 'b' })]));
    const second = applyAnswer(first, delta([row({ id: 'c' })], [pathOf('a')]));
    expect([...second.rows.keys()]).toEqual([pathOf('b'), pathOf('c')]);
    expect(second.rows.get(pathOf('b'))).toBe(first.rows.get(pathOf('b')));
    expect([...first.rows.keys()]).toEqual([pathOf('a'), pathOf('b')]);
    expect([...applyAnswer(second, whole([], { tag: 't-9' })).rows]).toEqual([]);
  });

  it('keeps its rows where nothing but the state has changed', () => {
    const first = applyAnswer(null, whole([row()]));
    const second = applyAnswer(first, { ...delta([], []), state: 'partial' });
    expect(second).toEqual({ ...first, state: 'partial', tag: 't-2' });
    expect(second.rows).toBe(first.rows);
  });

  it('keeps its rows while the daemon has not listed its stores, and asks for the whole feed next', () => {
    const first = applyAnswer(null, whole([row()]));
    const cold = applyAnswer(first, whole([], { state: 'cold', tag: null }));
    expect(cold).toMatchObject({ state: 'cold', tag: null });
    expect(cold.rows).toBe(first.rows);
    expect([...applyAnswer(cold, whole([], { host: 'host-b', state: 'cold', tag: null })).rows]).toEqual([]);
  });

  it('applies a message that follows its tag, and asks after any other', () => {
    const copy = applyAnswer(null, whole([row({ id: 'a' })]));
    const follows = applyMessage(copy, { feed: 'fibers', since: 't-1', ...delta([row({ id: 'b' })], []) });
    expect(follows).toMatchObject({ tag: 't-2' });
    expect(applyMessage(copy, { feed: 'fibers', since: 't-0', ...delta([], []) })).toBe('read');
    expect(applyMessage(copy, { feed: 'fibers', tag: 't-1' })).toBe('same');
    expect(applyMessage(copy, { feed: 'fibers', tag: 't-2' })).toBe('read');
    expect(applyMessage(copy, { feed: 'fibers', tag: null })).toBe('read');
    expect(applyMessage(copy, { feed: 'fibers', whole: true })).toBe('read');
    expect(applyMessage(copy, { feed: 'events', origin: 'host-a', seq: 1 })).toBe('same');
  });

  it('is what the daemon has after any sequence of changes', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const change = fc.record({ set: fc.array(fc.tuple(id, fc.nat(9))), gone: fc.array(id) });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const daemon = new Map<string, FiberRow>();
        let copy: FeedCopy = applyAnswer(null, whole([]));
        for (const [index, { set, gone }] of changes.entries()) {
          for (const one of gone) daemon.delete(pathOf(one));
          const rows = set.map(([one, count]) => row({ id: one, name: `${one} ${count}` }));
          for (const one of rows) daemon.set(one.path, one);
          const latest = new Map(rows.map((one) => [one.path, one]));
          copy = applyAnswer(copy, delta([...latest.values()], gone.map(pathOf), `t-${index + 2}`));
        }
        expect(new Map(copy.rows)).toEqual(daemon);
      }),
    );
  });
});
