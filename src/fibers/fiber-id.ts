import { join } from 'node:path';
import { CodedError } from '../base/errors.ts';

/** The folder inside a store's root that holds its fibers. */
export const FIBERS_FOLDER = '.fibers';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
/** Longest canonical id, in UTF-16 units. */
const MAX_ID_CHARS = 1_000;
/** Longest folder name in an id: file systems allow 255 bytes, of which a document's temporary file needs some. */
const MAX_COMPONENT_BYTES = 200;
const MAX_SLUG_CHARS = 80;
const MAX_NAMED_SLUG_CHARS = 60;
/** Leaves room for the number of a further fiber of this name. */
const MAX_NAMED_SLUG_BYTES = 180;
/** Characters that no part of an id may hold. */
const UNUSABLE = /[\u0000-\u001f\u007f\\]/;
const SLUG = new RegExp(`^[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}_-]{0,${MAX_SLUG_CHARS - 1}}$`, 'u');

/** True for a 26-character ULID in any case (FIB-2). */
export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** Last component of a canonical id (FIB-3). */
export function leafOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

/**
 * True when every component of a canonical id names a plain folder inside the store: not empty, hidden, `..`, absolute,
 * too long for a file name, and without control characters and backslashes.
 */
export function isSafeId(id: string): boolean {
  return (
    id.length <= MAX_ID_CHARS &&
    id
      .split('/')
      .every(
        (part) =>
          part !== '' &&
          !part.startsWith('.') &&
          Buffer.byteLength(part) <= MAX_COMPONENT_BYTES &&
          !UNUSABLE.test(part),
      )
  );
}

/** Throws `invalid_request` for what cannot be a canonical id, nor a part of one. */
export function requireSafeId(reference: string): void {
  if (!isSafeId(reference.trim())) throw unsafeId(reference);
}

/** The refusal of what cannot be a canonical id. A store may hold a file of such a name all the same, and lists it. */
export function unsafeId(id: string): CodedError {
  const mend = UNUSABLE.test(id.trim())
    ? ', as it holds a control character or a backslash; if a store lists it, rename its folder or file there'
    : '; svc fiber ls lists them';
  return new CodedError('invalid_request', `"${id}" cannot be the id of a fiber${mend}`);
}

/**
 * Possible paths of the document of a canonical id: in its own folder, and for a single component also bare at the
 * root.
 */
export function candidatePaths(root: string, id: string): string[] {
  const leaf = leafOf(id);
  const nested = join(root, FIBERS_FOLDER, id, `${leaf}.md`);
  return id.includes('/') ? [nested] : [nested, join(root, FIBERS_FOLDER, `${leaf}.md`)];
}

/** Canonical id of a document from its path below `.fibers`: `a/b/b.md` is `a/b`, a bare `x.md` is `x`. */
export function idOfPath(relativePath: string): string {
  const slash = relativePath.lastIndexOf('/');
  return slash === -1 ? relativePath.replace(/\.md$/, '') : relativePath.slice(0, slash);
}

/**
 * A leaf derived from a name: its words in lower case and in their own script, joined by hyphens, at most 60 characters.
 * Latin letters lose their accents. Empty if the name has neither letters nor digits.
 */
export function slugFromName(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin})[\u0300-\u036f]+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^[\p{M}-]+/u, '');
  let slug = '';
  for (const [at, letter] of [...words].entries()) {
    if (at === MAX_NAMED_SLUG_CHARS || Buffer.byteLength(slug + letter) > MAX_NAMED_SLUG_BYTES) break;
    slug += letter;
  }
  return slug.replace(/-+$/, '');
}

/** True for an id whose path is that of the feed of all hosts, `GET /fibers/composite`: it could not be read (RPL-2, RPL-3). */
export function isFeedId(id: string): boolean {
  return id === 'composite';
}

/** Throws `invalid_request` for a slug that may not be the leaf of a new fiber. */
export function requireSlug(slug: string): string {
  if (SLUG.test(slug) && Buffer.byteLength(slug) <= MAX_COMPONENT_BYTES) return slug.normalize('NFC');
  throw new CodedError(
    'invalid_request',
    `"${slug}" cannot be a slug; use letters, digits, "-" and "_", starting with a letter or digit, at most ${MAX_SLUG_CHARS} characters and ${MAX_COMPONENT_BYTES} bytes`,
  );
}
