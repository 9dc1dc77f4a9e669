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
  const root = parseTree(text);
  const holder = root === undefined ? undefined : findNodeAtLocation(root, path.slice(0, -1));
  const [before, last] = (holder?.children ?? []).slice(-2) as [Node?, Node?];
  if (holder === undefined || before === undefined) return ',';
  if (last !== undefined) return text.slice(before.offset + before.length, last.offset);
  const lead = text.slice(holder.offset + 1, before.offset);
  return lead.includes('\n') ? `,${lead}` : ', ';
}
