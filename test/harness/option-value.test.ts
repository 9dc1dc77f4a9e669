import { expect, it } from 'vitest';
import { optionValue } from '../../src/harness/option-value.ts';

it.each([
  { args: ['-a', 'never'], value: 'never' },
  { args: ['--ask=never'], value: 'never' },
  { args: ['--asked', 'never'], value: undefined },
  { args: ['-a'], value: undefined },
])('the option in $args is $value', ({ args, value }) => {
  expect(optionValue(args, '-a', '--ask')).toBe(value);
});
