import { applyEdits, findNodeAtLocation, type JSONPath, modify, type Node, parseTree } from 'jsonc-parser';

/**
 * Sets one value in a JSON text and leaves every other byte as it is. The text must be valid JSON of bounded depth, and
 * the parent of the value must exist.
 */
export function setKey(text: string, path: JSONPath, value: unknown): string {
  return withValue(text, path, value);
}

/** Removes a key and its value; a text without the key is unchanged. */
export function removeKey(text: string, path: JSONPath): string {
  return withValue(text, path, undefined);
}

/** Removes one entry of a list with the separator before it, or after it where it is the first. */
export function removeFromList(text: string, path: JSONPath, at: number): string {
  const entries = nodeAt(text, path)?.children ?? [];
  const [before, entry, next] = [entries[at - 1], entries[at], entries[at + 1]];
  if (entry === undefined) return text;
  const end = entry.offset + entry.length;
  if (before !== undefined) return text.slice(0, before.offset + before.length) + text.slice(end);
  if (next !== undefined) return text.slice(0, entry.offset) + text.slice(next.offset);
  return text.slice(0, entry.offset).trimEnd() + text.slice(end);
}

/** Appends a value to a list. */
export function appendToList(text: string, path: JSONPath, value: unknown): string {
  return withValue(text, [...path, -1], value);
}

function withValue(text: string, path: JSONPath, value: unknown): string {
  const [edit] = modify(text, path, value, {});
  if (edit === undefined) return text;
  const { content } = edit;
  const added =
    edit.length === 0 && content.startsWith(',') ? separator(text, path) + content.slice(1) : content;
  return applyEdits(text, [{ ...edit, content: added }]);
}

/** What the last two members of a map or list have between them, so that one more looks like them. */
function separator(text: string, path: JSONPath): string {
  const holder = nodeAt(text, path.slice(0, -1));
  const [before, last] = (holder?.children ?? []).slice(-2) as [Node?, Node?];
  if (holder === undefined || before === undefined) return ',';
  if (last !== undefined) return text.slice(before.offset + before.length, last.offset);
  const lead = text.slice(holder.offset + 1, before.offset);
  return lead.includes('\n') ? `,${lead}` : ', ';
}

function nodeAt(text: string, path: JSONPath): Node | undefined {
  const root = parseTree(text);
  return root === undefined ? undefined : findNodeAtLocation(root, path);
}
