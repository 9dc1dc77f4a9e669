import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, isSeq, type Scalar, type YAMLMap } from 'yaml';
import { parseYamlDocument } from './yaml-document.ts';
import {
  blockLines,
  isData,
  renderInFlow,
  renderInline,
  renderKey,
  valueLines,
  wrap,
} from './yaml-render.ts';

/** One change to frontmatter: a path of keys, and the new value or nothing for removal. */
export type Splice = { path: string[]; value: unknown } | { path: string[]; remove: true };
type Data = Record<string, unknown>;
type Pair = YAMLMap['items'][number];
type Found = { map: YAMLMap; pair: Pair; index: number };

/**
 * Applies one change to YAML text by cutting out and replacing only the source of the changed value, so that
 * every other line keeps its bytes. Answers `null` when the text cannot carry the change (an anchor that others
 * use, a key inside a list): the result is always read back and compared with the expected model.
 */
export function spliceYaml(yaml: string, splice: Splice, eol: string): string | null {
  const document = parseYamlDocument(yaml, { keepSourceTokens: true });
  if (document.errors.length > 0) return null;
  const before = plainCopy(document.toJS()) as Data | null;
  const model = applyToModel(before ?? {}, splice);
  if (model === null) return null;
  if (isDeepStrictEqual(model, before ?? {})) return yaml;
  for (const attempt of [surgical, rewriteTopKey]) {
    const text = attempt(yaml, document, splice, model, eol);
    if (text !== null && readsAs(text, model)) return text;
  }
  return null;
}

/** The model after one change; a map that loses its last key goes too. `null`: the path runs through a value that is not a map. */
export function applyToModel(data: Data, splice: Splice): Data | null {
  const copy = plainCopy(data) as Data;
  const chain: Data[] = [copy];
  for (const key of splice.path.slice(0, -1)) {
    const at = chain.at(-1)!;
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    if (next === undefined || next === null) {
      if ('remove' in splice) return copy;
      at[key] = {};
    } else if (typeof next !== 'object' || Array.isArray(next)) return 'remove' in splice ? copy : null;
    chain.push(at[key] as Data);
  }
  if (!('remove' in splice)) {
    chain.at(-1)![splice.path.at(-1)!] = plainCopy(splice.value);
    return copy;
  }
  for (let depth = chain.length - 1; depth >= 0; depth -= 1) {
    const key = splice.path[depth]!;
    if (depth < chain.length - 1 && Object.keys(chain[depth + 1]!).length > 0) break;
    if (!Object.hasOwn(chain[depth]!, key)) break;
    delete chain[depth]![key];
  }
  return copy;
}

function surgical(yaml: string, document: Document, splice: Splice, model: Data, eol: string): string | null {
  if ('remove' in splice) {
    const removed = deepestLeft(model, splice.path);
    const found = find(document, removed);
    return found === null ? null : removePair(yaml, found);
  }
  const root = document.contents;
  if (root === null) return appendLines(yaml, blockLines(splice.path, splice.value), eol);
  if (!isMap(root)) return null;
  let map: YAMLMap = root;
  for (const [depth, key] of splice.path.entries()) {
    const index = indexOfKey(map, key);
    const pair = map.items[index];
    const rest = splice.path.slice(depth + 1);
    if (pair === undefined) return insertPair(yaml, map, key, wrap(rest, splice.value), eol);
    if (rest.length === 0) return replaceValue(yaml, map, pair, splice.value, eol);
    if (isMap(pair.value) && (pair.value.items.length > 0 || pair.value.flow)) map = pair.value;
    else return replaceValue(yaml, map, pair, valueAt(model, splice.path.slice(0, depth + 1)), eol);
  }
  return null;
}

/** Writes one top-level key anew from the model; all other keys keep their bytes. */
function rewriteTopKey(
  yaml: string,
  document: Document,
  splice: Splice,
  model: Data,
  eol: string,
): string | null {
  const top = splice.path[0]!;
  const found = find(document, [top]);
  if (found === null || found.map.flow) return null;
  const [start, contentStop] = extentOf(yaml, found.pair);
  const lines = Object.hasOwn(model, top) ? blockLines([top], model[top]) : [];
  // Blank lines left behind by a removed key would join a text above that keeps its trailing lines.
  const blank = lines.length === 0 ? /^(?:[ \t]*\r?\n)*/.exec(yaml.slice(contentStop))![0].length : 0;
  const end = contentStop + blank;
  return yaml.slice(0, start) + lines.map((line) => line + eol).join('') + yaml.slice(end);
}

function replaceValue(yaml: string, map: YAMLMap, pair: Pair, value: unknown, eol: string): string | null {
  const colon = colonOf(pair);
  if (colon === null) return null;
  const node = pair.value as Scalar | null;
  const range = node?.range;
  const decorated = hasProperties(pair);
  if (map.flow === true || (range && !decorated && isInlineNode(node))) {
    const rendered = map.flow === true ? renderInFlow(value) : renderInline(value);
    if (!range || range[0] === range[1]) return `${yaml.slice(0, colon)} ${rendered}${yaml.slice(colon)}`;
    if (decorated) return null;
    return yaml.slice(0, range[0]) + rendered + yaml.slice(range[1]);
  }
  const [start, end] = extentOf(yaml, pair);
  const column = columnOf(yaml, keyStart(pair));
  const asList = isSeq(node) && Array.isArray(value) && value.length > 0;
  const lines = asList
    ? ['', ...value.map((item) => `${' '.repeat(column)}- ${renderInline(item)}`)]
    : valueLines(value, column);
  lines[0] = `${yaml.slice(start, colon)}${lines[0]}`;
  return yaml.slice(0, start) + lines.map((line) => line + eol).join('') + yaml.slice(end);
}

function insertPair(yaml: string, map: YAMLMap, key: string, value: unknown, eol: string): string | null {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const text = `${renderKey(key)}: ${renderInFlow(value)}`;
    if (last === undefined) {
      const open = map.range![0] + 1;
      return yaml.slice(0, open) + text + yaml.slice(open);
    }
    const end = contentEnd(last);
    return end === null ? null : `${yaml.slice(0, end)}, ${text}${yaml.slice(end)}`;
  }
  if (last === undefined) return null;
  const column = columnOf(yaml, keyStart(map.items[0]!));
  const [, end] = extentOf(yaml, last);
  const lines = blockLines([key], value).map((line) => ' '.repeat(column) + line);
  return appendLines(yaml.slice(0, end), lines, eol) + yaml.slice(end);
}

function removePair(yaml: string, { map, pair, index }: Found): string | null {
  if (map.flow !== true) {
    const [start, end] = extentOf(yaml, pair);
    return yaml.slice(0, start) + yaml.slice(end);
  }
  const next = map.items[index + 1];
  if (next !== undefined) return yaml.slice(0, keyStart(pair)) + yaml.slice(keyStart(next));
  const end = contentEnd(pair);
  if (end === null) return null;
  const previous = map.items[index - 1];
  const start = previous === undefined ? keyStart(pair) : contentEnd(previous);
  return start === null ? null : yaml.slice(0, start) + yaml.slice(end);
}

function appendLines(yaml: string, lines: string[], eol: string): string {
  const gap = yaml === '' || yaml.endsWith('\n') ? '' : eol;
  return yaml + gap + lines.map((line) => line + eol).join('');
}

/** Whole lines that a pair of a block map takes: from its key's line to the line after its value. */
function extentOf(yaml: string, pair: Pair): [start: number, end: number] {
  const key = keyStart(pair);
  const start = yaml.lastIndexOf('\n', key - 1) + 1;
  const content = contentEnd(pair) ?? key;
  if (content > key && yaml[content - 1] === '\n') return [start, content];
  const newline = yaml.indexOf('\n', content);
  return [start, newline === -1 ? yaml.length : newline + 1];
}

function keyStart(pair: Pair): number {
  return (pair.key as Scalar).range![0];
}

/** Where the value of a pair ends, before any comment; `null` for a flow key without a colon. */
function contentEnd(pair: Pair): number | null {
  const end = (pair.value as Scalar | null)?.range?.[1];
  const colon = colonOf(pair);
  if (end === undefined) return colon;
  return Math.max(end, colon ?? end);
}

function colonOf(pair: Pair): number | null {
  const token = pair.srcToken?.sep?.find((entry) => entry.type === 'map-value-ind');
  return token === undefined ? null : token.offset + 1;
}

function hasProperties(pair: Pair): boolean {
  return pair.srcToken?.sep?.some((entry) => entry.type === 'anchor' || entry.type === 'tag') ?? false;
}

function isInlineNode(node: unknown): boolean {
  if (isScalar(node)) return node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED';
  return (isMap(node) || isSeq(node)) && node.flow === true;
}

function columnOf(yaml: string, offset: number): number {
  return offset - (yaml.lastIndexOf('\n', offset - 1) + 1);
}

function indexOfKey(map: YAMLMap, key: string): number {
  return map.items.findIndex((pair) => isScalar(pair.key) && String(pair.key.value) === key);
}

function find(document: Document, path: string[]): Found | null {
  let map: unknown = document.contents;
  for (const [depth, key] of path.entries()) {
    if (!isMap(map)) return null;
    const index = indexOfKey(map as YAMLMap, key);
    const pair = (map as YAMLMap).items[index];
    if (pair === undefined) return null;
    if (depth === path.length - 1) return { map: map as YAMLMap, pair, index };
    map = pair.value;
  }
  return null;
}

/** The path cut to the first key that the model does not have any more. */
function deepestLeft(model: Data, path: string[]): string[] {
  let at: unknown = model;
  for (const [depth, key] of path.entries()) {
    if (!isData(at) || !Object.hasOwn(at, key)) return path.slice(0, depth + 1);
    at = at[key];
  }
  return path;
}

function valueAt(model: Data, path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (isData(at) ? at[key] : undefined), model);
}

function readsAs(yaml: string, model: Data): boolean {
  const document = parseYamlDocument(yaml);
  if (document.errors.length > 0) return false;
  try {
    return isDeepStrictEqual(plainCopy(document.toJS()) ?? {}, model);
  } catch (error) {
    if (error instanceof ReferenceError) return false; // an alias whose anchor went away
    throw error;
  }
}

/** A copy in which an alias is a value of its own. */
function plainCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainCopy);
  if (!isData(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainCopy(inner)]));
}
