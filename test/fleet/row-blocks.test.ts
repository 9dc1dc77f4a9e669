import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBlocks, type KeptRow, keptRow, lengthOf, RowBlocks } from '../../src/fleet/row-blocks.ts';

/** A row whose place among others is that of its id. */
const rowOf = (id: string, change: number): KeptRow =>
  keptRow({ path: `/s/${id}.md`, id, store: '/s', json: JSON.stringify({ id, change, text: 'é—' }) }, change);
const textOf = (blocks: RowBlocks) => `[${encodeBlocks(blocks.all).toString().slice(1)}]`;

describe('the rows of a copy in blocks', () => {
  it('have the bytes of all rows in order', () => {
    const rows = Array.from({ length: 100 }, (_, at) => rowOf(`r${at}`, 1));
    const blocks = new RowBlocks(rows, 1);
    const sorted = [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(textOf(blocks)).toBe(`[${sorted.map(({ json }) => json).join(',')}]`);
    const lengths = blocks.all.map(lengthOf);
    expect(lengths).toEqual(blocks.all.map((block) => encodeBlocks([block]).length));
    expect(new RowBlocks([], 1).all).toEqual([]);
  });

  it('change with the rows in them, and no others', () => {
    const rows = Array.from({ length: 100 }, (_, at) => rowOf(String(at).padStart(3, '0'), 1));
    const blocks = new RowBlocks(rows, 1);
    const before = new Set(blocks.all);
    blocks.put(rowOf('050', 2), rows[50]);
    blocks.put(rowOf('0505', 3), undefined);
    blocks.drop(rows[99]!, 4);
    const changed = blocks.all.filter((block) => !before.has(block));
    expect(changed.map(({ change }) => change)).toEqual([3, 4]);
    expect(blocks.all.length).toBe(before.size);
  });

  it('are those of a sorted list after any changes, in blocks that are neither long nor many, and renewed by id', () => {
    const id = fc.nat(40).map((number) => String(number).padStart(2, '0'));
    const step = fc.record({ id, gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30 }), fc.array(step, { maxLength: 60 }), (first, steps) => {
        const rows = new Map([...new Set(first)].map((one) => [one, rowOf(one, 0)]));
        const blocks = new RowBlocks([...rows.values()], 0);
        const texts = new Map<number, string>();
        for (const [at, { id, gone }] of steps.entries()) {
          const known = rows.get(id);
          if (!gone) {
            const row = rowOf(id, at + 1);
            rows.set(id, row);
            blocks.put(row, known);
          } else if (known !== undefined) {
            rows.delete(id);
            blocks.drop(known, at + 1);
          }
          const sorted = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
          expect(textOf(blocks)).toBe(`[${sorted.map(({ json }) => json).join(',')}]`);
          for (const block of blocks.all) {
            expect(block.rows.length).toBeGreaterThan(0);
            expect(block.rows.length).toBeLessThan(16);
            const text = encodeBlocks([block]).toString();
            expect(texts.get(block.id) ?? text).toBe(text);
            texts.set(block.id, text);
            for (const row of block.rows) expect(row.change).toBeLessThanOrEqual(block.change);
          }
        }
      }),
    );
  });

  it('hold a row once whose place changed', () => {
    const [a, b] = [rowOf('a', 1), rowOf('b', 1)];
    const blocks = new RowBlocks([a, b], 1);
    const moved = { ...a, id: 'c', change: 2 };
    blocks.put(moved, a);
    expect(blocks.all.flatMap(({ rows }) => rows)).toEqual([b, moved]);
  });
});
