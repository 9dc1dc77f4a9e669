import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Coding } from '../../src/http/content-coding.ts';
import { codingOf, isTag, namesTag } from '../../src/http/prepared-reply.ts';

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

describe('the coding that a client prefers', () => {
  it.each<[string | undefined, Coding | null]>([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP, deflate', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0', null],
    ['gzip ; q=0.001', 'gzip'],
    ['br;q=9', null],
    ['deflate, zstd', null],
  ])('of %j is %j', (header, coding) => {
    expect(codingOf(header)).toBe(coding);
  });

  it('never throws, whatever the header', () => {
    fc.assert(fc.property(fc.string(), (header) => [null, 'br', 'gzip'].includes(codingOf(header))));
  });
});
