/** True for a strong entity tag with its quotes. */
export function isStrongTag(tag: string): boolean {
  return /^"[\x21\x23-\x7e]*"$/.test(tag);
}

/** Does an `If-None-Match` header name this tag? Weak comparison over the whole list; `*` names every tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  const opaque = withoutWeakness(tag);
  for (const match of header.matchAll(/(?:W\/)?"[^"]*"/g)) {
    if (withoutWeakness(match[0]) === opaque) return true;
  }
  return false;
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
