import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyAnswer, applyMessage, type FeedCopy, keyOf } from '../../../board/src/model/feed-copy.ts';
import { sameJson } from '../../../board/src/model/same-json.ts';
import type { FiberRow, FibersComposite, FibersDelta } from '../../../board/src/model/wire.ts';
import { compositeOf, delta, row, whole } from './rows.ts';

const keyOfId = (id: string, origin = 'host-a') => keyOf(row({ id, origin }));
const pathOf = (id: string) => row({ id }).path;
const changed = (of: FibersDelta): FibersComposite => compositeOf({ 'host-a': of }, of.tag);
const readOf = (rows: FiberRow[], host: string, tag: string) =>
  whole(rows, { host, tag }).origins[host]?.read ?? null;

describe('a copy of the feed', () => {
  it('takes a whole answer in the place of everything, and a change row by row', () => {
    const first = applyAnswer(null, whole([row({ id: 'a' }), row({ id: 'b' })]));
    const second = applyAnswer(first, changed(delta([row({ id: 'c' })], [pathOf('a')])));
    expect([...second.rows.keys()]).toEqual([keyOfId('b'), keyOfId('c')]);
    expect(second.rows.get(keyOfId('b'))).toBe(first.rows.get(keyOfId('b')));
    expect([...first.rows.keys()]).toEqual([keyOfId('a'), keyOfId('b')]);
    expect([...applyAnswer(second, whole([], { tag: 't-9' })).rows]).toEqual([]);
  });

  it('shows what a name hides, and keeps the row at the next answer', () => {
    const odd = () => row({ id: 'a', name: 'invoice\u202efdp.exe 👩‍💻' });
    const first = applyAnswer(null, whole([odd()]));
    expect(first.rows.get(keyOfId('a'))?.name).toBe('invoice\\u202efdp.exe 👩‍💻');
    expect(applyAnswer(first, whole([odd()])).rows).toBe(first.rows);
    expect(applyAnswer(first, changed(delta([odd()], []))).rows).toBe(first.rows);
  });

  it('keeps its rows where nothing but the state has changed', () => {
    const first = applyAnswer(null, whole([row()]));
    const second = applyAnswer(first, changed({ ...delta([], []), state: 'partial' }));
    expect(second).toMatchObject({ state: 'partial', tag: 't-2' });
    expect(second.rows).toBe(first.rows);
  });

  it('keeps the rows of a whole answer that are as they were', () => {
    const first = applyAnswer(null, whole([row({ id: 'a' }), row({ id: 'b' })]));
    expect(applyAnswer(first, whole([row({ id: 'b' }), row({ id: 'a' })])).rows).toBe(first.rows);
    const second = applyAnswer(first, whole([row({ id: 'a', gate: 'due' }), row({ id: 'b' })]));
    expect(second.rows.get(keyOfId('b'))).toBe(first.rows.get(keyOfId('b')));
    expect(second.rows.get(keyOfId('a'))?.gate).toBe('due');
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
});

describe('a copy of the feeds of several hosts', () => {
  const a = row({ id: 'x' });
  const b = row({ id: 'x', origin: 'host-b' });
  const both = () =>
    applyAnswer(
      null,
      compositeOf({ 'host-a': readOf([a], 'host-a', 'a-1'), 'host-b': readOf([b], 'host-b', 'b-1') }, 't-1'),
    );

  it('[RPL-2] knows rows of one path by their hosts, and changes those of each host alone', () => {
    const first = both();
    expect([...first.rows.values()].map(({ origin }) => origin)).toEqual(['host-a', 'host-b']);
    const second = applyAnswer(
      first,
      compositeOf({ 'host-a': delta([], [pathOf('x')], 'a-2'), 'host-b': delta([], [], 'b-1') }, 't-2'),
    );
    expect([...second.rows.keys()]).toEqual([keyOfId('x', 'host-b')]);
    const read = readOf([row({ id: 'y', origin: 'host-b' })], 'host-b', 'b-2');
    const third = applyAnswer(first, compositeOf({ 'host-a': delta([], [], 'a-1'), 'host-b': read }, 't-3'));
    expect([...third.rows.keys()]).toEqual([keyOfId('x'), keyOfId('y', 'host-b')]);
  });

  it('[TMP-8] keeps the last rows of a host that does not answer, and tells that of it alone', () => {
    const first = both();
    const second = applyAnswer(first, compositeOf({ 'host-a': delta([], [], 'a-1'), 'host-b': null }, 't-2'));
    expect(second.rows).toBe(first.rows);
    expect(second.hosts.get('host-a')).toMatchObject({ state: 'fresh', error: null });
    expect(second.hosts.get('host-b')).toMatchObject({ state: 'no_answer', feed: 'fresh', tag: 'b-1' });
    expect(second.state).toBe('fresh');
  });

  it('drops the rows of a host that is not told of any more', () => {
    const { rows } = applyAnswer(both(), changed(delta([], [], 'a-1')));
    expect([...rows.keys()]).toEqual([keyOfId('x')]);
  });

  it('applies what the socket of one host tells to the rows of that host', () => {
    const copy = both();
    const after = applyMessage(copy, { feed: 'fibers', since: 'a-1', ...delta([], [pathOf('x')], 'a-2') });
    expect(after).toMatchObject({ tag: 't-1' });
    expect([...(after as FeedCopy).rows.keys()]).toEqual([keyOfId('x', 'host-b')]);
    expect(applyMessage(after as FeedCopy, { feed: 'fibers', tag: 'a-2' })).toBe('same');
  });

  it('asks what changed of other hosts, unless it has that already', () => {
    const copy = { ...both(), tag: 'a-1~n-5' };
    expect(applyMessage(copy, { feed: 'remotes', tag: 'n-5' })).toBe('same');
    for (const tag of ['n-6', '5', null]) expect(applyMessage(copy, { feed: 'remotes', tag })).toBe('read');
    expect(applyMessage(copy, { feed: 'remotes', whole: true })).toBe('read');
    const after = applyMessage(copy, { feed: 'fibers', since: 'a-1', ...delta([], [], 'a-2') });
    expect(after).toMatchObject({ tag: 'a-2~n-5' });
  });

  it('is what the daemons have after any sequence of changes, however each is told', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const change = fc.record({
      set: fc.array(fc.tuple(id, fc.nat(4), fc.constantFrom('due' as const, 'cooldown' as const))),
      gone: fc.array(id),
      origin: fc.constantFrom('host-a', 'host-b'),
      told: fc.constantFrom('whole', 'delta', 'not'),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const daemons = { 'host-a': new Map<string, FiberRow>(), 'host-b': new Map<string, FiberRow>() };
        let copy: FeedCopy | null = null;
        for (const { set, gone, origin, told } of changes) {
          const other = origin === 'host-a' ? 'host-b' : 'host-a';
          const daemon = daemons[origin as keyof typeof daemons];
          const next = new Map(daemon);
          for (const one of gone) next.delete(keyOfId(one, origin));
          const latest = new Map(
            set.map(([one, n, gate]) => [one, row({ id: one, name: `${n}`, gate, origin })]),
          );
          for (const one of latest.values()) next.set(keyOf(one), one);
          const reads = {
            whole: () => readOf([...next.values()], origin, 't'),
            delta: () => delta([...latest.values()], gone.filter((one) => !latest.has(one)).map(pathOf)),
            not: () => null,
          };
          const read = reads[told as keyof typeof reads]();
          // A host that does not answer has what it had for who reads.
          if (read !== null) daemons[origin as keyof typeof daemons] = next;
          const answer: FibersComposite = compositeOf({ [origin]: read, [other]: delta([], []) }, 't');
          copy = applyAnswer(copy, { ...answer, host: 'host-a' });
          expect(new Map(copy.rows)).toEqual(new Map([...daemons['host-a'], ...daemons['host-b']]));
        }
      }),
    );
  });
});

describe('two values of JSON', () => {
  it.each([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [null, {}, false],
    ['1', 1, false],
  ])('%j and %j are the same: %s', (a, b, same) => {
    expect(sameJson(a, b)).toBe(same);
  });
});
