import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { parseYamlDocument } from '../../src/fibers/yaml-document.ts';

const key = fc.constantFrom('a', 'b', '"a"', '1', '"1"', 'null', '~');
const flow = fc
  .array(fc.tuple(key, fc.constantFrom('1', '{a: 1, a: 2}', '[{b: 1, b: 2}]', '{b: 1}')), { maxLength: 3 })
  .map((pairs) => `{${pairs.map(([name, value]) => `${name}: ${value}`).join(', ')}}`);
const text = fc
  .array(fc.tuple(key, flow), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}: ${value}\n`).join(''));

describe('a parsed YAML text', () => {
  it('repeats a key exactly where the library says that it does', () => {
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

  it('takes twenty thousand keys in some seconds, not in minutes', () => {
    const many = Array.from({ length: 20_000 }, (_, nth) => `k${nth}: v\n`).join('');
    const began = performance.now();
    expect(parseYamlDocument(`a: &a 1\nb: *a\n${many}`).errors).toEqual([]);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});
