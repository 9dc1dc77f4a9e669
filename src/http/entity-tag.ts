/** True for an entity tag with its quotes; a digest of a file has single ones (RPL-22). */
export function isTag(tag: string): boolean {
  return /^(?:(?:W\/)?"[\x21\x23-\x7e]*"|W\/'[\x21\x23-\x26\x28-\x7e]*')$/.test(tag);
}

/** Does an `If-None-Match` header name this tag? Weak comparison over the whole list; `*` names every tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  const opaque = withoutWeakness(tag);
  for (const match of header.matchAll(/(?:W\/)?(?:"[^"]*"|'[^']*')/g)) {
    if (withoutWeakness(match[0]) === opaque) return true;
  }
  return false;
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
