import { stringify } from 'yaml';

/** Lines of `key: value` in block style, without indentation; nested maps become indented lines. */
export function blockLines(key: string, value: unknown): string[] {
  const lines = valueLines(value, 0);
  lines[0] = `${renderKey(key)}:${lines[0]}`;
  return lines;
}

/** A value as it follows `key:` at the given column; the first line begins with a space or is empty. */
export function valueLines(value: unknown, column: number): string[] {
  if (!isData(value) || Object.keys(value).length === 0) return [` ${renderInline(value)}`];
  const lines = [''];
  for (const [key, inner] of Object.entries(value)) {
    const indent = ' '.repeat(column + 2);
    const [first, ...rest] = valueLines(inner, column + 2);
    lines.push(`${indent}${renderKey(key)}:${first}`, ...rest);
  }
  return lines;
}

/** A value on one line, for a block map. */
export function renderInline(value: unknown): string {
  if (typeof value === 'object' && value !== null) return renderInFlow(value);
  return renderScalar(value) ?? stringify(value, { lineWidth: 0 }).trimEnd();
}

/** Line breaks and other characters that a one-line scalar must escape. */
const UNPRINTED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/;

/** A value on one line, for inside a flow collection, where commas and brackets need quotes. */
export function renderInFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderInFlow).join(', ')}]`;
  if (isData(value)) {
    const pairs = Object.entries(value).map(([key, inner]) => `${renderKey(key)}: ${renderInFlow(inner)}`);
    return `{${pairs.join(', ')}}`;
  }
  return (
    renderScalar(value) ??
    stringify([value], { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(1, -1).trim()
  );
}

/** Renders scalars that do not depend on their context, exactly as the library does but faster. */
function renderScalar(value: unknown): string | null {
  if (typeof value === 'boolean' || (Number.isSafeInteger(value) && !Object.is(value, -0)))
    return String(value);
  if (typeof value !== 'string') return null;
  if (UNPRINTED.test(value)) return JSON.stringify(value);
  return PLAIN_WORDS.test(value) && !RESERVED_WORD.test(value) ? value : null;
}

const PLAIN_WORDS = /^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_/.][A-Za-z0-9_./-]*)*$/;
const RESERVED_WORD = /^(?:null|true|false)$/i;

/** Renders a key before its colon. */
export function renderKey(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) && !/^(?:null|true|false)$/i.test(key)
    ? key
    : JSON.stringify(key);
}

/** True for a map of keys. */
export function isData(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
