import { isUtf8 } from 'node:buffer';
import { basename, extname } from 'node:path';
import { charset, lookup } from 'mime-types';

/** Endings that the registry of types gives to something rare, and that on a developer's disk are source text. */
const SOURCE_TEXT = new Set(['.ts', '.mts', '.cts', '.tsx', '.jsx', '.rs', '.lock', '.log', '.vue', '.mod']);
const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';

/** Bytes at the head of a file that tell text from anything else. */
export const HEAD_BYTES = 4_096;

/** The content type that a file's name stands for; null where the name does not tell. */
export function typeOfName(path: string): string | null {
  if (SOURCE_TEXT.has(extname(path).toLowerCase())) return TEXT;
  const type = lookup(basename(path));
  if (type === false) return null;
  const text = type.startsWith('text/') || charset(type) === 'UTF-8';
  return text ? `${type}; charset=utf-8` : type;
}

/** The content type that the first bytes of a file stand for: text, or nothing in particular. */
export function typeOfHead(head: Uint8Array, whole: boolean): string {
  if (head.includes(0)) return BYTES;
  if (isUtf8(head)) return TEXT;
  // The cut may lie inside a character, which has four bytes at most.
  const cut = !whole && [1, 2, 3].some((bytes) => isUtf8(head.subarray(0, -bytes)));
  return cut ? TEXT : BYTES;
}
