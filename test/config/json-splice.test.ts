import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToList, removeFromList, removeKey, setKey } from '../../src/config/json-splice.ts';

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

  it.each([
    { layout: 'one line', text: '{"a": [1, 2],"z" :{}}', after: '{"a": [1, 2, 3],"z" :{}}' },
    {
      layout: 'a line for each member',
      text: '{\r\n\t"a": [\r\n\t\t1,\r\n\t\t2\r\n\t]\r\n}\r\n',
      after: '{\r\n\t"a": [\r\n\t\t1,\r\n\t\t2,\r\n\t\t3\r\n\t]\r\n}\r\n',
    },
    {
      layout: 'one member on a line of its own',
      text: '{"a": [\n  {"b":  1}\n]}',
      after: '{"a": [\n  {"b":  1},\n  3\n]}',
    },
    { layout: 'no member', text: '{ "a": [ ] }', after: '{ "a": [3 ] }' },
  ])('appends in the layout of the list, and keeps every other byte: $layout', ({ text, after }) => {
    expect(appendToList(text, ['a'], 3)).toBe(after);
  });

  it('takes one entry of a list out and keeps the others, and an appended one without a trace', () => {
    const lists = fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lists, fc.nat(4), layouts, (list, at, layout) => {
        const text = JSON.stringify({ list }, null, layout);
        const left = list.filter((_, index) => index !== at);
        expect(JSON.parse(removeFromList(text, ['list'], at))).toEqual({
          list: JSON.parse(JSON.stringify(left)),
        });
        expect(removeFromList(appendToList(text, ['list'], { a: 1 }), ['list'], list.length)).toBe(text);
      }),
    );
    const empty = '{ "list": [ ] }';
    expect(removeFromList(appendToList(empty, ['list'], 1), ['list'], 0)).toBe(empty);
  });

  it('reads the text as JSON: a key may be long, and may be named like a prototype', () => {
    const long = 'k'.repeat(5_000);
    const text = `{"${long}":1,"__proto__":{"a":1},"constructor":2}`;
    expect(setKey(text, [long], 2)).toBe(text.replace(':1,', ':2,'));
    expect(setKey(text, ['__proto__', 'a'], 2)).toBe(text.replace('"a":1', '"a":2'));
    expect(removeKey(text, ['__proto__'])).toBe(`{"${long}":1,"constructor":2}`);
  });

  it('adds at the end of a list of thousands', () => {
    const list = Array.from({ length: 20_000 }, (_, n) => `/project-${n}`);
    const after = JSON.parse(appendToList(JSON.stringify({ list }), ['list'], 'last')) as { list: string[] };
    expect(after.list).toEqual([...list, 'last']);
  });
});
