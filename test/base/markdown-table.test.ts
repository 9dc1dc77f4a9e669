import { expect, it } from 'vitest';
import { markdownTable } from '../../src/base/markdown-table.ts';

it('a table of Markdown is aligned, and a bar in a cell begins no column', () => {
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
