/** What of a content a GET is answered with; `end` is not part of it. */
export type Wanted = { kind: 'all' } | { kind: 'part'; from: number; end: number } | { kind: 'none' };

const ALL: Wanted = { kind: 'all' };

/**
 * What a `Range` header asks for. One range of bytes is understood; anything else counts as no range (RFC 9110,
 * 14.2). `none`: no byte of it exists, which is 416. `If-Range` is compared strongly, so a weak tag never holds.
 */
export function wantedOf(
  headers: { range?: string | undefined; 'if-range'?: string | undefined },
  content: { size: number; etag: string | null; last_modified: string | null },
): Wanted {
  const { range } = headers;
  if (range === undefined) return ALL;
  const only_if = headers['if-range'];
  if (only_if !== undefined) {
    const holds =
      only_if === content.last_modified || (only_if === content.etag && !only_if.startsWith('W/'));
    if (!holds) return ALL;
  }
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  if (match === null || (match[1] === '' && match[2] === '')) return ALL;
  const { size } = content;
  if (match[1] === '') {
    const last = Math.min(Number(match[2]), size);
    return last === 0 ? { kind: 'none' } : { kind: 'part', from: size - last, end: size };
  }
  const from = Number(match[1]);
  const end = match[2] === '' ? size : Math.min(Number(match[2]) + 1, size);
  if (match[2] !== '' && Number(match[2]) < from) return ALL;
  return from >= size ? { kind: 'none' } : { kind: 'part', from, end };
}
