import { expect, it } from 'vitest';
import { isStrongTag, namesTag } from '../../src/http/entity-tag.ts';

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['', false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" , "c"', true],
  ['*', true],
  [' * ', true],
  ['a', false],
  ['"A"', false],
  ['"aa"', false],
  ['"b", a', false],
])('If-None-Match: %s names "a": %s', (header, expected) => {
  expect(namesTag(header, '"a"')).toBe(expected);
});

it.each([
  ['"a"', true],
  ['""', true],
  ['W/"a"', false],
  ['a', false],
  ['"a"b"', false],
  ['"a\r\n"', false],
])('%j is a strong tag: %s', (tag, expected) => {
  expect(isStrongTag(tag)).toBe(expected);
});
