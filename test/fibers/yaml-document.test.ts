import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { DOCUMENT_LIMITS } from '../../src/contract/document-limits.ts';
import { readFrontmatter } from '../../src/fibers/frontmatter.ts';
import { parseYamlDocument } from '../../src/fibers/yaml-document.ts';

const key = fc.constantFrom('a', 'b', '"a"', '1', '"1"', 'null', '~');
const flow = fc
  .array(fc.tuple(key, fc.constantFrom('1', '{a: 1, a: 2}', '[{b: 1, b: 2}]', '{b: 1}')), { maxLength: 3 })
  .map((pairs) => `{${pairs.map(([name, value]) => `${name}: ${value}`).join(', ')}}`);
const text = fc
  .array(fc.tuple(key, flow), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}: ${value}\n`).join(''));

describe('a parsed YAML text', () => {
  it('has the values of JSON alone, whatever tags it has', () => {
    const yaml = [
      'due: !!timestamp 2026-12-24T18:00:00Z',
      'todo: !!set {milk, eggs}',
      'plan: !!omap [ first: a, second: b ]',
      'pairs: !!pairs [ a: 1, a: 2 ]',
      'pic: !!binary aGVsbG8=',
      'own: !mine {a: 1}',
      'number: !!int "7"',
    ].join('\n');
    expect(readFrontmatter(yaml)).toEqual({
      data: {
        due: '2026-12-24T18:00:00Z',
        todo: { milk: null, eggs: null },
        plan: [{ first: 'a' }, { second: 'b' }],
        pairs: [{ a: 1 }, { a: 2 }],
        pic: 'aGVsbG8=',
        own: { a: 1 },
        number: 7,
      },
      problem: null,
    });
  });

  it('reports a duplicate key exactly where the library does', () => {
    fc.assert(
      fc.property(text, (yaml) => {
        const ours = parseYamlDocument(yaml).errors.map((error) => [error.code, error.pos[0]]);
        const errors = parseDocument(yaml, { prettyErrors: false }).errors;
        const theirs = errors.map((error) => [error.code, error.pos[0]] as const);
        const first = theirs.toSorted((a, b) => a[1] - b[1])[0];
        expect(ours).toEqual(first === undefined ? [] : [first]);
      }),
    );
  });
});

const LONG = DOCUMENT_LIMITS.frontmatter_chars;
const fill = (unit: string, chars = LONG - 100) => unit.repeat(Math.floor(chars / unit.length));
const nested = (unit: string, deep: number) =>
  Array.from({ length: deep }, (_, level) => `${' '.repeat(level)}${unit}`).join('\n');

describe('a hostile YAML text', () => {
  /** Each of these took the library from seconds to for ever, or runs into a limit. */
  it.each([
    ['nested complex keys on one line', `x: ${'? '.repeat(400)}x`, 'a key must be text'],
    ['nested complex keys on many lines', nested('?', 400), 'a key must be text'],
    ['complex keys in a flow map', `x: {${fill('? a, ', 2_000)}}`, 'a key must be text'],
    ['maps that are keys of maps', `${'{'.repeat(20)}a: 1${'}: 1'.repeat(20)}`, 'a key must be text'],
    ['lists that are keys', '[a]: 1', 'a key must be text'],
    ['lists that are keys without a value', '{[a], b}', 'a key must be text'],
    ['an alias that is a key', 'a: &a [1]\nb: {*a : 1}', 'a key must be text'],
    ['18,000 aliases', `a: &a 1\nx: [${'*a, '.repeat(18_000)}]`, 'more than 100 aliases'],
    ['as many anchors', `x: [${'&a 1, '.repeat(10_000)}]`, 'more than 100 anchors'],
    ['as many tags', `x: [${'!a 1, '.repeat(10_000)}]`, 'more than 100 YAML tags'],
    ['lists in lists', `x: ${fill('[')}`, '32 deep'],
    ['maps in maps', `x: ${fill('{a: ')}`, '32 deep'],
    ['items in items', `x:\n${fill('- ')}`, '32 deep'],
    ['deep indents', nested('a:', 700), '32 deep'],
    ['a directive', '%YAML 1.1\n--- {a: 1}', 'directive'],
    ['many short lines', fill('-\n'), '20000 YAML tokens'],
    ['many keys', Array.from({ length: 20_000 }, (_, nth) => `k${nth}: v`).join('\n'), '20000 YAML tokens'],
    ['many empty lines', fill('\n'), '20000 YAML tokens'],
    ['many commas', `x: [${fill(',')}]`, '20000 YAML tokens'],
    ['many comments', fill('#\n'), '20000 YAML tokens'],
    ['many errors', fill('@a: 1\n'), '20000 YAML tokens'],
  ])('is refused before anything is built from it: %s', (_what, yaml, message) => {
    const document = parseYamlDocument(yaml);
    expect(document.errors.map((error) => error.code)).toEqual(['RESOURCE_EXHAUSTION']);
    expect(document.errors[0]!.message).toContain(message);
    expect(document.contents).toBeNull();
    expect(readFrontmatter(yaml).problem?.message).toContain(message);
  });

  it.each([
    ['lists in lists', (deep: number) => `x: ${'['.repeat(deep - 1)}a${']'.repeat(deep - 1)}`],
    ['maps by indent', (deep: number) => nested('a:', deep)],
    ['items in items', (deep: number) => `x:\n ${'- '.repeat(deep - 2)}a`],
  ])('is accepted at the depth limit and refused one level deeper: %s', (_what, yamlOf) => {
    expect(parseYamlDocument(yamlOf(DOCUMENT_LIMITS.depth)).errors).toEqual([]);
    expect(parseYamlDocument(yamlOf(DOCUMENT_LIMITS.depth + 2)).errors[0]?.message).toContain('deep');
  });

  it.each([
    [
      'anchors',
      (count: number) => Array.from({ length: count }, (_, nth) => `k${nth}: &a${nth} 1`).join('\n'),
      100,
    ],
    ['aliases', (count: number) => `a: &a 1\nx: [${Array(count).fill('*a').join(', ')}]`, 100],
    ['tags', (count: number) => `x: [${Array(count).fill('!!str a').join(', ')}]`, 100],
    ['tokens', (count: number) => '\n'.repeat(count), DOCUMENT_LIMITS.yaml_tokens],
  ])('is accepted at the limit of %s and refused one above', (_what, yamlOf, most) => {
    expect(readFrontmatter(yamlOf(most)).problem).toBeNull();
    expect(readFrontmatter(yamlOf(most + 1)).problem?.message).toContain(String(most));
  });

  it('is refused if its expanded aliases exceed the limits of frontmatter', () => {
    const yaml = `a: &a "${'x'.repeat(20_000)}\\n"\nsvc: {x: [${Array(50).fill('*a').join(', ')}]}`;
    expect(readFrontmatter(yaml)).toMatchObject({
      data: {},
      problem: { message: expect.stringContaining('256 KiB of text') },
    });
  });

  it('is refused with the line where the limit is exceeded', () => {
    expect(readFrontmatter('name: x\nb: [a]\n? c\n: d\n').problem).toEqual({
      message: expect.stringContaining('a key must be text'),
      line: 3,
      limit: true,
    });
  });
});
