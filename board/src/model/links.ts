/** Where a link in the body of a fiber leads. */
export type Target =
  | { kind: 'fiber'; id: string }
  /** A file of the host, by its absolute path. */
  | { kind: 'file'; path: string }
  | { kind: 'web'; url: string }
  /** A place in the same body. */
  | { kind: 'here'; id: string }
  /** Nothing that a page of this board may open. */
  | { kind: 'nothing' };

/** `[[id]]`, `[[id#heading]]` and `[[id|label]]`, as the daemon renames them when a fiber moves. */
const WIKI = /\[\[([^[\]|#\n]+)(?:#[^[\]|\n]*)?(?:\|([^[\]\n]*))?\]\]/g;
const WEB = /^(https?|mailto):/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * What an address in a document means. `fiber_at` gives the id of the fiber whose document has that path; relative
 * addresses count from the document.
 */
export function targetOf(
  href: string,
  document_path: string,
  fiber_at: (path: string) => string | undefined,
): Target {
  if (WEB.test(href)) return { kind: 'web', url: href };
  if (SCHEME.test(href) || href.startsWith('//')) return { kind: 'nothing' };
  if (href.startsWith('#')) return { kind: 'here', id: decoded(href.slice(1)) };
  const fiber = href.startsWith('?') ? new URLSearchParams(href).get('fiber') : null;
  if (fiber) return { kind: 'fiber', id: fiber };
  const [name = ''] = href.split(/[?#]/);
  if (name === '') return { kind: 'nothing' };
  const path = resolved(decoded(name), document_path);
  const id = fiber_at(path) ?? fiber_at(`${path}.md`);
  return id === undefined ? { kind: 'file', path } : { kind: 'fiber', id };
}

/** The parts of a text: plain ones, and links to fibers by their ids. */
export function wikiParts(text: string): (string | { id: string; label: string })[] {
  const parts: (string | { id: string; label: string })[] = [];
  let from = 0;
  for (const found of text.matchAll(WIKI)) {
    const [whole, id = '', label] = found;
    if (found.index > from) parts.push(text.slice(from, found.index));
    parts.push({ id: id.trim(), label: label?.trim() || id.trim() });
    from = found.index + whole.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** The address at which the daemon answers the bytes of a file of a host; of its own for null. */
export function fileUrl(path: string, origin: string | null = null): string {
  const url = `/api/v1/file?path=${encodeURIComponent(path)}`;
  return origin === null ? url : `${url}&origin=${encodeURIComponent(origin)}`;
}

function resolved(name: string, document_path: string): string {
  const steps: string[] = [];
  const from = name.startsWith('/') ? '' : document_path.slice(0, document_path.lastIndexOf('/'));
  for (const step of `${from}/${name}`.split('/'))
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  return `/${steps.join('/')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
