import { DOCUMENT_LIMITS } from './document-limits.ts';

/**
 * Why a JSON-like value exceeds the limits of frontmatter, or null; `around` is its nesting depth. A value reached
 * several times, as by YAML aliases, counts each time.
 */
export function oversize(value: unknown, around = 0): string | null {
  let values = 0;
  let chars = 0;
  const left: { value: unknown; depth: number }[] = [{ value, depth: around }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: at, depth } = next;
    values += 1;
    if (values > DOCUMENT_LIMITS.values) return `more than ${DOCUMENT_LIMITS.values} keys and values`;
    if (typeof at === 'string') chars += at.length;
    else if (typeof at === 'object' && at !== null) {
      if (depth >= DOCUMENT_LIMITS.depth)
        return `lists and maps more than ${DOCUMENT_LIMITS.depth} deep in each other`;
      for (const [key, inner] of Array.isArray(at) ? at.entries() : Object.entries(at)) {
        if (typeof key === 'string') chars += key.length;
        left.push({ value: inner, depth: depth + 1 });
        if (left.length > DOCUMENT_LIMITS.values)
          return `more than ${DOCUMENT_LIMITS.values} keys and values`;
      }
    }
    if (chars > DOCUMENT_LIMITS.frontmatter_chars)
      return `more than ${DOCUMENT_LIMITS.frontmatter_chars / 1024} KiB of text`;
  }
  return null;
}

/** True if a text or key in the value has a lone surrogate, which UTF-8 cannot encode. */
export function hasBrokenText(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasBrokenText);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => !key.isWellFormed() || hasBrokenText(inner));
}
