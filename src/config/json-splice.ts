import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser';

/** The value of a JSON text, in which comments are allowed; throws for what is not JSON beside them. */
export function parseCommented(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  if (errors.length > 0) throw new SyntaxError('it is not JSON');
  return value;
}

/** True if the key at the end of a path stands more than once in its map: a program takes one of them, an edit the other. */
export function standsTwice(text: string, path: JSONPath): boolean {
  const members = nodeAt(text, path.slice(0, -1))?.children ?? [];
  return members.filter(({ children }) => children?.[0]?.value === path.at(-1)).length > 1;
}

/**
 * Sets one value in a JSON text and leaves every other byte as it is. The text must be valid JSON of bounded depth, and
 * the parent of the value must exist.
 */
export function setKey(text: string, path: JSONPath, value: unknown): string {
  const [edit] = modify(text, path, value, {});
  if (edit === undefined) return text;
  const { content } = edit;
  const added =
    edit.length === 0 && content.startsWith(',') ? separator(text, path) + content.slice(1) : content;
  return applyEdits(text, [{ ...edit, content: added }]);
}

/** Removes a key and its value; a text without the key is unchanged. */
export function removeKey(text: string, path: JSONPath): string {
  const members = nodeAt(text, path.slice(0, -1))?.children ?? [];
  const at = members.findIndex(({ children }) => children?.[0]?.value === path.at(-1));
  return at === -1 ? text : removeMember(text, members, at);
}

/** Removes one entry of a list. */
export function removeFromList(text: string, path: JSONPath, at: number): string {
  return removeMember(text, nodeAt(text, path)?.children ?? [], at);
}

/** Removes a member with the separator before it, or after it where it is the first; comments before it stay. */
function removeMember(text: string, members: readonly Node[], at: number): string {
  const [before, member, next] = [members[at - 1], members[at], members[at + 1]];
  if (member === undefined) return text;
  const end = member.offset + member.length;
  if (before !== undefined) {
    const from = before.offset + before.length;
    const between = text.slice(from, member.offset);
    const kept = /^\s*,\s*$/.test(between) ? '' : between.replace(',', '').trimEnd();
    return text.slice(0, from) + kept + text.slice(end);
  }
  if (next !== undefined) return text.slice(0, member.offset) + text.slice(next.offset);
  return text.slice(0, member.offset).trimEnd() + text.slice(end);
}

/** Lays the value at a path out with one member on a line, indented as its text is; a text of one line is unchanged. */
export function layOut(text: string, path: JSONPath): string {
  const indent = /^[[{][^\S\n]*\n([ \t]+)/.exec(text)?.[1];
  const node = nodeAt(text, path);
  if (indent === undefined || node === undefined) return text;
  const line = text.slice(text.lastIndexOf('\n', node.offset) + 1);
  const value = parseCommented(text.slice(node.offset, node.offset + node.length));
  const laid = JSON.stringify(value, null, indent).replaceAll('\n', `\n${/^[ \t]*/.exec(line)?.[0] ?? ''}`);
  return text.slice(0, node.offset) + laid + text.slice(node.offset + node.length);
}

/** Appends a value to a list. */
export function appendToList(text: string, path: JSONPath, value: unknown): string {
  return setKey(text, [...path, -1], value);
}

/** What the last two members of a map or list have between them, so that one more looks like them. */
function separator(text: string, path: JSONPath): string {
  const holder = nodeAt(text, path.slice(0, -1));
  const [before, last] = (holder?.children ?? []).slice(-2) as [Node?, Node?];
  if (holder === undefined || before === undefined) return ',';
  const lead = text.slice(holder.offset + 1, before.offset);
  const between = last === undefined ? `,${lead}` : text.slice(before.offset + before.length, last.offset);
  if (last !== undefined && /^\s*,\s*$/.test(between)) return between;
  // Comments between two members are about these alone.
  return between.includes('\n') ? `,${/\r?\n[^\n]*$/.exec(between)?.[0]}` : ', ';
}

function nodeAt(text: string, path: JSONPath): Node | undefined {
  const root = parseTree(text);
  return root === undefined ? undefined : findNodeAtLocation(root, path);
}
