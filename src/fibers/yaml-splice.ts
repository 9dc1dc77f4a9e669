import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, isSeq, type Scalar, type YAMLMap } from 'yaml';
import { readFrontmatter } from './frontmatter.ts';
import { parseYamlDocument } from './yaml-document.ts';
import { blockLines, isData, renderInFlow, renderInline, renderKey, valueLines } from './yaml-render.ts';

/** One change to frontmatter: a path of keys, and the new value or nothing for removal. */
export type Splice = { path: string[]; value: unknown } | { path: string[]; remove: true };
type Data = Record<string, unknown>;
type Pair = YAMLMap['items'][number];
/** Characters of the text from `start` to `end` that are replaced. */
type TextChange = { start: number; end: number; text: string };
/** A map of the text, its current value, and its intended value. */
type Target = { map: YAMLMap; before: Data; after: Data };
/** `limit`: the reader's limit that the text would exceed; null if the text cannot take the change at all. */
export type Spliced = { yaml: string } | { yaml: null; limit: string | null };

/**
 * Changes YAML text from the value `before` to the value `after` in one pass. Only the source of differences is
 * replaced, so every other line keeps its bytes. Returns no text if the text cannot take the change (for example an
 * anchor in use); the result is always parsed and compared.
 */
export function spliceYaml(yaml: string, before: Data, after: Data, eol: string): Spliced {
  if (isDeepStrictEqual(before, after)) return { yaml };
  const document = parseYamlDocument(yaml, { keepSourceTokens: true });
  const root: unknown = document.contents;
  if (document.errors.length > 0 || !(root === null || isMap(root))) return { yaml: null, limit: null };
  const texts = new Texts(yaml, eol);
  let limit: string | null = null;
  for (const anew of [false, true]) {
    const changes = root === null ? [texts.append(after)] : texts.ofRoot({ map: root, before, after }, anew);
    if (changes === null) continue;
    const text = applyChanges(yaml, changes);
    const read = readFrontmatter(text);
    if (read.problem === null && isDeepStrictEqual(read.data, after)) return { yaml: text };
    if (read.problem?.limit === true) limit ??= read.problem.message;
  }
  return { yaml: null, limit };
}

/**
 * The model after some changes, in order; a map that becomes empty is removed. `blocked` is a change whose path leads
 * through a value that is not a map.
 */
export function applySplices(
  data: Data,
  splices: readonly Splice[],
): { model: Data; blocked: null } | { model: null; blocked: Splice } {
  const model = plainCopy(data) as Data;
  for (const splice of splices) if (!applySplice(model, splice)) return { model: null, blocked: splice };
  return { model, blocked: null };
}

function applySplice(model: Data, splice: Splice): boolean {
  const chain: Data[] = [model];
  for (const key of splice.path.slice(0, -1)) {
    const at = chain.at(-1)!;
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    if (next === undefined || next === null) {
      if ('remove' in splice) return true;
      at[key] = {};
    } else if (typeof next !== 'object' || Array.isArray(next)) return 'remove' in splice;
    chain.push(at[key] as Data);
  }
  if (!('remove' in splice)) {
    chain.at(-1)![splice.path.at(-1)!] = plainCopy(splice.value);
    return true;
  }
  for (let depth = chain.length - 1; depth >= 0; depth -= 1) {
    const key = splice.path[depth]!;
    if (depth < chain.length - 1 && Object.keys(chain[depth + 1]!).length > 0) break;
    if (!Object.hasOwn(chain[depth]!, key)) break;
    delete chain[depth]![key];
  }
  return true;
}

/** Plans the changes of one text; results are null if the text cannot take the change. */
class Texts {
  #yaml: string;
  #eol: string;

  constructor(yaml: string, eol: string) {
    this.#yaml = yaml;
    this.#eol = eol;
  }

  /** With `anew`, and if nothing smaller works, changed top-level keys are rewritten as a whole. */
  ofRoot(root: Target, anew: boolean): TextChange[] | null {
    if (root.map.flow === true) return this.#ofFlowMap(root);
    const whole = (pair: Pair) => this.#writeAnew(pair, root.after);
    return this.#ofBlockMap(root, anew ? whole : (pair) => this.#ofPair(root, pair) ?? whole(pair));
  }

  append(after: Data): TextChange {
    return this.#insertLines(this.#yaml.length, linesOf(after, Object.keys(after)));
  }

  #ofMap(target: Target): TextChange[] | null {
    return target.map.flow === true
      ? this.#ofFlowMap(target)
      : this.#ofBlockMap(target, (pair) => this.#ofPair(target, pair));
  }

  #ofBlockMap(target: Target, ofPair: (pair: Pair) => TextChange[] | null): TextChange[] | null {
    const { map, after } = target;
    const changes: TextChange[] = [];
    for (const pair of map.items) {
      if (isKept(target, pair)) continue;
      const some = ofPair(pair);
      if (some === null) return null;
      changes.push(...some);
    }
    const added = addedKeys(target);
    if (added.length === 0) return changes;
    const last = map.items.at(-1);
    if (last === undefined) return null;
    const indent = ' '.repeat(columnOf(this.#yaml, keyStart(map.items[0]!)));
    const [, end] = extentOf(this.#yaml, last);
    changes.push(
      this.#insertLines(
        end,
        linesOf(after, added).map((line) => indent + line),
      ),
    );
    return changes;
  }

  #ofFlowMap(target: Target): TextChange[] | null {
    const { map, after } = target;
    const added = addedKeys(target);
    const gone = map.items.filter((pair) => !Object.hasOwn(after, keyOf(pair)));
    // Adjacent removed items are cut together, because of the commas between them.
    if (gone.length > 1 || (gone.length === 1 && added.length > 0))
      return [{ start: map.range![0], end: map.range![1], text: renderInFlow(after) }];
    const changes: TextChange[] = [];
    for (const pair of map.items) {
      if (isKept(target, pair)) continue;
      const some = this.#ofPair(target, pair);
      if (some === null) return null;
      changes.push(...some);
    }
    if (added.length === 0) return changes;
    const text = added.map((key) => `${renderKey(key)}: ${renderInFlow(after[key])}`).join(', ');
    const last = map.items.at(-1);
    const at = last === undefined ? map.range![0] + 1 : contentEnd(last);
    if (at === null) return null;
    changes.push({ start: at, end: at, text: last === undefined ? text : `, ${text}` });
    return changes;
  }

  #ofPair({ map, before, after }: Target, pair: Pair): TextChange[] | null {
    const key = keyOf(pair);
    if (!Object.hasOwn(after, key)) return this.#remove(map, pair);
    const [was, value] = [before[key], after[key]];
    const inner: unknown = pair.value;
    if (isMap(inner) && isData(was) && isData(value) && Object.keys(value).length > 0) {
      if (inner.items.length > 0 || inner.flow === true)
        return this.#ofMap({ map: inner, before: was, after: value });
    }
    return this.#replace(map, pair, value);
  }

  #replace(map: YAMLMap, pair: Pair, value: unknown): TextChange[] | null {
    const colon = colonOf(pair);
    if (colon === null) return null;
    const yaml = this.#yaml;
    const node = pair.value as Scalar | null;
    const range = node?.range;
    const decorated = hasProperties(pair);
    if (map.flow === true || (range && !decorated && isInlineNode(node))) {
      const text = map.flow === true ? renderInFlow(value) : renderInline(value);
      if (!range || range[0] === range[1]) return [{ start: colon, end: colon, text: ` ${text}` }];
      return decorated ? null : [{ start: range[0], end: range[1], text }];
    }
    const [start, end] = extentOf(yaml, pair);
    const column = columnOf(yaml, keyStart(pair));
    const asList = isSeq(node) && Array.isArray(value) && value.length > 0;
    const lines = asList
      ? ['', ...value.map((item) => `${' '.repeat(column)}- ${renderInline(item)}`)]
      : valueLines(value, column);
    lines[0] = `${yaml.slice(start, colon)}${lines[0]}`;
    return [{ start, end, text: this.#joined(lines) }];
  }

  #remove(map: YAMLMap, pair: Pair): TextChange[] | null {
    if (map.flow !== true) {
      const [start, end] = extentOf(this.#yaml, pair);
      return [{ start, end, text: '' }];
    }
    const index = map.items.indexOf(pair);
    const next = map.items[index + 1];
    if (next !== undefined) return [{ start: keyStart(pair), end: keyStart(next), text: '' }];
    const end = contentEnd(pair);
    const previous = map.items[index - 1];
    const start = previous === undefined ? keyStart(pair) : contentEnd(previous);
    return start === null || end === null ? null : [{ start, end, text: '' }];
  }

  /** Renders one top-level key from the model. */
  #writeAnew(pair: Pair, after: Data): TextChange[] {
    const key = keyOf(pair);
    const [start, stop] = extentOf(this.#yaml, pair);
    const lines = Object.hasOwn(after, key) ? blockLines(key, after[key]) : [];
    // Blank lines left behind by a removed key would join a text above that keeps its trailing lines.
    const blank = lines.length === 0 ? blankAfter(this.#yaml, stop) : 0;
    return [{ start, end: stop + blank, text: this.#joined(lines) }];
  }

  #insertLines(at: number, lines: string[]): TextChange {
    const gap = at === 0 || this.#yaml[at - 1] === '\n' ? '' : this.#eol;
    return { start: at, end: at, text: gap + this.#joined(lines) };
  }

  #joined(lines: string[]): string {
    return lines.map((line) => line + this.#eol).join('');
  }
}

/** Changes that begin at the same place apply in the order in which they are given. */
function applyChanges(yaml: string, changes: readonly TextChange[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, text } of changes.toSorted((a, b) => a.start - b.start)) {
    pieces.push(yaml.slice(at, start), text);
    at = Math.max(at, end);
  }
  return pieces.join('') + yaml.slice(at);
}

function isKept({ before, after }: Target, pair: Pair): boolean {
  const key = keyOf(pair);
  return Object.hasOwn(after, key) && isDeepStrictEqual(before[key], after[key]);
}

function addedKeys({ before, after }: Target): string[] {
  return Object.keys(after).filter((key) => !Object.hasOwn(before, key));
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function linesOf(data: Data, keys: readonly string[]): string[] {
  return keys.flatMap((key) => blockLines(key, data[key]));
}

function blankAfter(yaml: string, at: number): number {
  const blank = /(?:[ \t]*\r?\n)*/y;
  blank.lastIndex = at;
  return blank.exec(yaml)![0].length;
}

/** The whole lines of a pair of a block map: from its key's line to the line after its value. */
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

/** A deep copy in which aliases are expanded; throws for a value that its keys do not hold, such as a date. */
function plainCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainCopy);
  if (!isData(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw new TypeError(`${value.constructor?.name ?? 'a value'} is not JSON and cannot be written as YAML`);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainCopy(inner)]));
}
