import { expect, it } from 'vitest';
import { markdownTable } from '../../src/base/markdown-table.ts';

it('aligns the columns of a Markdown table, and escapes a bar in a cell', () => {
  expect(
    markdownTable(
      ['name', 'is'],
      [
        ['a', 'x | y'],
        ['longer', ''],
      ],
    ),
  ).toBe('\n| name   | is     |\n| ------ | ------ |\n| a      | x \\| y |\n| longer |        |\n');
  expect(markdownTable(['name'], [])).toBe('');
});
