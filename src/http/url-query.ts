import { decodeOnce } from './url-path.ts';

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
