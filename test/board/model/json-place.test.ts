import { describe, expect, it } from 'vitest';
import { depthInJson, placeInJson, placeOfSentence } from '../../../board/src/model/json-place.ts';

const TEXT = '{\n  "agents": [\n    { "id": "a", "harness": "none" },\n    { "id": "b" }\n  ]\n}\n';
const at = ({ from, to }: { from: number; to: number }, text = TEXT) => text.slice(from, to);
const line = ({ from }: { from: number }, text = TEXT) => text.slice(0, from).split('\n').length;

describe('the place of a value in a JSON text', () => {
  it.each([
    ['agents.0.harness', '"none"', 3],
    ['agents.1.id', '"b"', 4],
    ['agents.1.harness', '{', 4],
    ['agents', '[', 2],
    ['version', '{', 1],
    ['', '{', 1],
  ])('%s is %s in line %i', (place, token, number) => {
    const found = placeInJson(TEXT, place);
    expect([at(found), line(found)]).toEqual([token, number]);
  });

  it('is its beginning for a text without any', () => {
    expect(placeInJson('', 'a')).toEqual({ from: 0, to: 0 });
  });
});

describe('the depth of a new line', () => {
  it.each([
    ['', '', 0],
    ['{', '', 1],
    ['{', '}', 0],
    ['{\n  "a": [', ' ] }', 1],
    ['{\n  "a": [{}, "}]{", "\\"["', '', 2],
    ['{ "never closed {', '', 1],
    ['{}]', '', 0],
  ])('after %j and before %j is %i', (before, rest, depth) => {
    expect(depthInJson(before, rest)).toBe(depth);
  });
});

describe('what the sentence of a validator is about', () => {
  it('is the place that it names', () => {
    const said =
      '/c/agents.json is not valid at agents.0.harness: unknown harness "none"; correct it, or remove the file';
    expect(at(placeOfSentence(TEXT, said))).toBe('"none"');
    expect(line(placeOfSentence(TEXT, '/c/x.json is not valid at its top level: expected object'))).toBe(1);
  });

  it('is where the text stops being JSON', () => {
    const broken = '{\n  "a": 1,\n  b\n}\n';
    const said = (() => {
      try {
        return JSON.parse(broken) as string;
      } catch (error) {
        return `/c/x.json is not valid JSON (${(error as Error).message}); correct it`;
      }
    })();
    expect(line(placeOfSentence(broken, said), broken)).toBe(3);
    const cut = '{\n  "a": 1';
    const found = placeOfSentence(cut, 'x is not valid JSON (Unexpected end of JSON input)');
    expect(line(found, cut)).toBe(2);
  });
});
