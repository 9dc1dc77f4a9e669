import { expect, it } from 'vitest';
import { parentsFor } from '../../../board/src/model/nesting.ts';
import { row } from './rows.ts';

const rows = [
  row({ id: 'river', name: 'River' }),
  row({ id: 'river/gauges', name: 'Gauges' }),
  row({ id: 'river/gauges/loggers', name: 'Loggers' }),
  row({ id: 'rivers', name: 'Every river' }),
  row({ id: 'lake', name: 'Lake', store: '/other' }),
];

it.each<[text: string, limit: number, ids: string[]]>([
  ['', 9, ['river', 'rivers']],
  ['', 1, ['river']],
  [' EVERY ', 9, ['rivers']],
  ['lake', 9, []],
])('offers to nest below what holds "%s" in the same store, but never below itself', (text, limit, ids) => {
  const [, gauges] = rows;
  if (gauges === undefined) throw new Error('no row');
  expect(parentsFor(gauges, rows, text, limit).map(({ id }) => id)).toEqual(ids);
});
