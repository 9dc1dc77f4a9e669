import { isMap, isScalar, isSeq, type Pair, parseDocument } from 'yaml';

/** Keys and indices from the root of a JSON text. */
export type JsonPath = readonly (string | number)[];
type Range = { start: number; end: number };

/**
 * Changes one value in a JSON text and leaves every other byte as it is. The text is parsed as YAML, a superset of
 * JSON, because that parser reports the position of each value. The text must be valid JSON, and the parent of the
 * value must exist.
 */
export function setKey(text: string, path: JsonPath, value: unknown): string {
  const json = JSON.stringify(value);
  const found = rangeOf(text, path);
  if (found !== null) return text.slice(0, found.start) + json + text.slice(found.end);
  const key = `${JSON.stringify(path.at(-1))}: ${json}`;
  return insertLast(text, path.slice(0, -1), key);
}

/** Removes a key and its value; a text without the key is unchanged. */
export function removeKey(text: string, path: JsonPath): string {
  const pairs = pairsOf(text, path.slice(0, -1));
  const at = pairs.findIndex((pair) => pair.key === path.at(-1));
  if (at === -1) return text;
  const { start, end } = pairs[at]!;
  const [before, after] = [pairs[at - 1], pairs[at + 1]];
  if (before !== undefined) return text.slice(0, before.end) + text.slice(end);
  return after === undefined
    ? text.slice(0, start) + text.slice(end)
    : text.slice(0, start) + text.slice(after.start);
}

/** Appends a value to a list. */
export function appendToList(text: string, path: JsonPath, value: unknown): string {
  return insertLast(text, path, JSON.stringify(value));
}

/** Appends a member to a map or list, formatted like the last one. */
function insertLast(text: string, path: JsonPath, member: string): string {
  const holder = rangeOf(text, path);
  if (holder === null) throw new Error(`nothing at ${path.join('.')}`);
  const inner = text.slice(holder.start + 1, holder.end - 1);
  const last = inner.trimEnd();
  const end = holder.start + 1 + last.length;
  if (last === '') {
    const pad = inner.includes('\n') ? inner : '';
    return text.slice(0, holder.start + 1) + pad + member + text.slice(holder.start + 1);
  }
  const members = membersOf(text, path);
  const first = members[0]!.start;
  const lead = text.slice(holder.start + 1, first);
  const between = members.length > 1 ? text.slice(members.at(-2)!.end, members.at(-1)!.start) : null;
  const separator = between ?? (lead.includes('\n') ? `,${lead}` : ', ');
  return text.slice(0, end) + separator + member + text.slice(end);
}

function membersOf(text: string, path: JsonPath): Range[] {
  const node = nodeAt(text, path);
  if (isSeq(node)) return node.items.map((item) => rangeOfNode(item)!);
  return pairsOf(text, path);
}

function pairsOf(text: string, path: JsonPath): (Range & { key: unknown })[] {
  const node = nodeAt(text, path);
  if (!isMap(node)) throw new Error(`no map at ${path.join('.')}`);
  return node.items.map((pair: Pair) => {
    const { key, value } = pair;
    const start = rangeOfNode(key)!.start;
    return { key: isScalar(key) ? key.value : null, start, end: rangeOfNode(value)!.end };
  });
}

function rangeOf(text: string, path: JsonPath): Range | null {
  return rangeOfNode(nodeAt(text, path));
}

function rangeOfNode(node: unknown): Range | null {
  const range = (node as { range?: [number, number, number] | null } | undefined)?.range;
  return range == null ? null : { start: range[0], end: range[1] };
}

function nodeAt(text: string, path: JsonPath): unknown {
  // Switched off, because the library compares every key with every other (quadratic).
  const document = parseDocument(text, { keepSourceTokens: false, uniqueKeys: false });
  return path.length === 0 ? document.contents : document.getIn(path, true);
}
