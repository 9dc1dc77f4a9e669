import { expect, it } from 'vitest';
import { isTag, namesTag } from '../../src/http/entity-tag.ts';

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
  ['W/"a"', true],
  ["W/'sha256-00ff'", true],
  ["'a'", false],
  ['a', false],
  ['"a"b"', false],
  ['"a\r\n"', false],
])('%j is an entity tag: %s', (tag, expected) => {
  expect(isTag(tag)).toBe(expected);
});

it.each([
  ["W/'sha256-00ff'", true],
  ["'sha256-00ff'", true],
  ["W/'a', W/'sha256-00ff'", true],
  ["W/'sha256-00f'", false],
  ['W/"sha256-00ff"', false],
])('[RPL-22] If-None-Match: %s names the digest of a file: %s', (header, expected) => {
  expect(namesTag(header, "W/'sha256-00ff'")).toBe(expected);
});
