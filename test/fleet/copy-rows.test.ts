import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CopyRows } from '../../src/fleet/copy-rows.ts';
import type { ToldRow } from '../../src/fleet/feed-answer.ts';

const pathOf = (id: string) => `/s/${id}.md`;
/** A row whose place among others is that of its id. */
const rowOf = (id: string, text = ''): ToldRow => ({
  ...{ path: pathOf(id), id, store: '/s' },
  json: JSON.stringify({ path: pathOf(id), id, store: '/s', text: `é—${text}` }),
});
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const listOf = (rows: readonly ToldRow[]) =>
  [...rows]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ json }) => `,${json}`)
    .join('');

describe('the rows of a copy', () => {
  it('are the bytes of a sorted list after any changes, few or many, each with the number of its last change', () => {
    const id = fc.nat(60).map((number) => String(number).padStart(2, '0'));
    const told = fc.array(fc.tuple(id, fc.string({ maxLength: 2_000 })), { maxLength: 40 });
    const step = fc.record({ told, gone: fc.array(id, { maxLength: 30 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const rows = new CopyRows(undefined, 16);
        const truth = new Map<string, { row: ToldRow; change: number }>();
        for (const [change, { told, gone }] of steps.entries()) {
          const before = new Set(truth.keys());
          const { moved, dropped } = rows.take(
            told.map(([id, text]) => rowOf(id, text)),
            gone.map(pathOf),
            change,
          );
          const last = new Map(told.filter(([id]) => !gone.includes(id)));
          let news = 0;
          for (const [id, text] of last) {
            const row = rowOf(id, text);
            if (truth.get(id)?.row.json === row.json) continue;
            truth.set(id, { row, change });
            news += 1;
          }
          const left = [...new Set(gone)].filter((id) => before.has(id));
          for (const id of left) truth.delete(id);
          expect(dropped.sort()).toEqual(left.map(pathOf).sort());
          expect(moved).toBe(news + left.length > 0);
          expect(rows.size).toBe(truth.size);
          expect([...rows.paths()].sort()).toEqual([...truth.keys()].map(pathOf).sort());
          expect(textOf(rows.bytes)).toBe(listOf([...truth.values()].map(({ row }) => row)));
          for (const after of [-1, change - 1, change]) {
            const changed = [...truth.values()].filter((one) => one.change > after);
            expect(rows.changedAfter(after).map(textOf).join('')).toBe(listOf(changed.map(({ row }) => row)));
          }
        }
      }),
    );
  }, 60_000);

  it('are found by a text in them', () => {
    const rows = new CopyRows();
    const all = [rowOf('a', 'one'), rowOf('b', 'twö'), rowOf('c', 'öne')];
    rows.take(all, [], 1);
    expect(rows.with('ö')).toEqual(all.slice(1).map(({ json }) => json));
    expect(rows.with('"id":"a"')).toEqual([all[0]!.json]);
    expect(rows.with(',')).toEqual(all.map(({ json }) => json));
    expect(rows.with('none')).toEqual([]);
  });

  it('contain a row once after its place changed', () => {
    const rows = new CopyRows();
    rows.take([rowOf('a'), rowOf('b')], [], 1);
    const json = rowOf('c').json.replace(pathOf('c'), pathOf('a'));
    rows.take([{ ...rowOf('c'), path: pathOf('a'), json }], [], 2);
    expect(textOf(rows.bytes)).toBe(listOf([rowOf('b'), { ...rowOf('c'), json }]));
  });

  it('take no more memory than their bytes and some steps of it, also after they were many', () => {
    const rows = new CopyRows();
    const many = Array.from({ length: 2_000 }, (_, at) => rowOf(`r${at}`, 'x'.repeat(1_000)));
    rows.take(many, [], 1);
    expect(rows.bytes.buffer.byteLength).toBeLessThan(rows.bytes.length + 64 * 1024);
    for (const { path } of many.slice(1)) rows.take([], [path], 2);
    expect(textOf(rows.bytes)).toBe(listOf(many.slice(0, 1)));
    expect(rows.bytes.buffer.byteLength).toBeLessThan(64 * 1024);
  });
});
