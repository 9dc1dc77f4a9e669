/** Segments of a raw request path, each percent-decoded exactly once, or why it is not acceptable. */
export type DecodedPath = { ok: true; segments: string[] } | { ok: false; message: string };

/**
 * Takes a raw path apart. `%2F` becomes part of its segment and never a separator. Malformed encoding, NUL,
 * raw characters outside printable ASCII, and dot segments in either spelling are refused.
 */
export function decodePath(path: string): DecodedPath {
  if (!/^\/[\x21-\x7e]*$/.test(path)) return refuse('contains a character that must be percent-encoded');
  const segments: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    if (!raw.includes('%') && raw !== '.' && raw !== '..') {
      segments.push(raw);
      continue;
    }
    const segment = decodeOnce(raw);
    if (segment === null) return refuse('has a malformed percent-encoding');
    if (segment.includes('\0')) return refuse('contains a NUL character');
    if (segment.split('/').some((part) => part === '.' || part === '..'))
      return refuse('contains a dot segment');
    segments.push(segment);
  }
  return { ok: true, segments };
}

/** Decodes `%XX` once as UTF-8; null when it is malformed. */
function decodeOnce(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function refuse(what: string): DecodedPath {
  return { ok: false, message: `The path ${what}.` };
}

/** Parameters of a raw query string, or why it is not acceptable. */
export type ParsedQuery = { ok: true; values: Record<string, string> } | { ok: false; message: string };

/** Decodes a query once; `+` is a space, a name alone has an empty value, a repeated name is refused. */
export function parseQuery(query: string): ParsedQuery {
  const values: Record<string, string> = Object.create(null);
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    const name = decodePart(cut < 0 ? pair : pair.slice(0, cut));
    const value = decodePart(cut < 0 ? '' : pair.slice(cut + 1));
    if (name === null || value === null) {
      return { ok: false, message: 'The query has a malformed percent-encoding.' };
    }
    if (name in values) return { ok: false, message: `The query names "${name}" more than once.` };
    values[name] = value;
  }
  return { ok: true, values: { ...values } };
}

function decodePart(text: string): string | null {
  return decodeOnce(text.replaceAll('+', ' '));
}
