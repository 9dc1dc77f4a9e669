import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToList, removeKey, setKey } from '../../src/config/json-splice.ts';

const maps = fc.dictionary(fc.string(), fc.jsonValue());
const layouts = fc.constantFrom(undefined, 2, '\t');

describe('a splice of a JSON text', () => {
  it('sets a key, and parses to the intended value', () => {
    fc.assert(
      fc.property(maps, layouts, fc.string(), fc.jsonValue(), (map, layout, key, value) => {
        fc.pre(key !== '__proto__' && !Object.hasOwn(map, '__proto__'));
        const meant = JSON.parse(JSON.stringify({ ...map, [key]: value }));
        expect(JSON.parse(setKey(JSON.stringify(map, null, layout), [key], value))).toEqual(meant);
      }),
    );
  });

  it('removes a key and keeps the others', () => {
    fc.assert(
      fc.property(maps, layouts, (map, layout) => {
        fc.pre(!Object.hasOwn(map, '__proto__'));
        const text = JSON.stringify({ ...map, gone: 1 }, null, layout);
        const { gone: _gone, ...rest } = JSON.parse(text);
        expect(JSON.parse(removeKey(text, ['gone']))).toEqual(rest);
      }),
    );
  });

  it('adds at the end of a list of thousands', () => {
    const list = Array.from({ length: 20_000 }, (_, n) => `/project-${n}`);
    const after = JSON.parse(appendToList(JSON.stringify({ list }), ['list'], 'last')) as { list: string[] };
    expect(after.list).toEqual([...list, 'last']);
  });
});
