import { expect, test } from 'vitest';
import { jsonOf } from '../../src/base/json-text.ts';

test.each([
  ['{"a":[1,null]}', { a: [1, null] }],
  ['null', null],
  ['', undefined],
  ['{"a":', undefined],
])('the text %j stands for %j', (text, value) => {
  expect(jsonOf(text)).toEqual(value);
});
