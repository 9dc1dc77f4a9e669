import { decodePath } from './request-head.ts';
import type { Method, Row } from './row.ts';

/** A row with what can be worked out once, before any request. */
type CompiledRow = { row: Row; pattern: string[] };

export type Match =
  | { kind: 'row'; compiled: CompiledRow; params: Readonly<Record<string, string>> }
  | { kind: 'not_found' }
  /** The path exists, with these methods. */
  | { kind: 'method_not_allowed'; allow: string }
  | { kind: 'malformed'; message: string };

type Methods = Map<Method, CompiledRow>;
type Place = { pattern: string[]; methods: Methods };

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const NOT_FOUND: Match = { kind: 'not_found' };
/** Stands between segments, none of which can contain it. */
const BETWEEN = '\0';

/** Finds the row of a request; literal paths win over patterns, and patterns are tried in the order of the rows. */
export class Router {
  /** By the path as it comes over the wire when nothing in it is encoded. */
  #plain = new Map<string, Map<Method, Match>>();
  /** The same by decoded segments. */
  #literal = new Map<string, Map<Method, Match>>();
  #places: Place[] = [];

  constructor(rows: readonly Row[]) {
    for (const row of rows) this.#add(row);
  }

  /** `method` in upper case, HEAD counting as GET; `path` as it came over the wire. */
  match(method: string, path: string): Match {
    const wanted = (method === 'HEAD' ? 'GET' : method) as Method;
    const plain = this.#plain.get(path);
    if (plain !== undefined) return plain.get(wanted) ?? notAllowed(plain.keys());
    const decoded = decodePath(path);
    if (!decoded.ok) return { kind: 'malformed', message: decoded.message };
    const { segments } = decoded;
    const literal = this.#literal.get(segments.join(BETWEEN));
    if (literal !== undefined) return literal.get(wanted) ?? notAllowed(literal.keys());
    for (const place of this.#places) {
      const params = matchPattern(place.pattern, segments);
      if (params === null) continue;
      const compiled = place.methods.get(wanted);
      return compiled === undefined ? notAllowed(place.methods.keys()) : { kind: 'row', compiled, params };
    }
    return NOT_FOUND;
  }

  #add(row: Row): void {
    const pattern = row.path.slice(1).split('/');
    const compiled = { row, pattern };
    if (row.shared === true && row.method !== 'GET')
      throw new Error(`${row.method} ${row.path} may have an effect, and is not shared`);
    if (isLiteral(pattern)) {
      const known = this.#plain.get(row.path) ?? new Map<Method, Match>();
      addOnce(known, row, { kind: 'row', compiled, params: NO_PARAMS });
      this.#plain.set(row.path, known);
      this.#literal.set(pattern.join(BETWEEN), known);
      return;
    }
    const place = this.#places.find((entry) => entry.pattern.join('/') === pattern.join('/'));
    const methods: Methods = place?.methods ?? new Map();
    addOnce(methods, row, compiled);
    if (place === undefined) this.#places.push({ pattern, methods });
  }
}

function addOnce<T>(methods: Map<Method, T>, { method, path }: Row, value: T): void {
  if (methods.has(method)) throw new Error(`two rows for ${method} ${path}`);
  methods.set(method, value);
}

function isLiteral(pattern: readonly string[]): boolean {
  return pattern.every((part) => !part.startsWith(':') && !part.startsWith('*'));
}

function matchPattern(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    if (part.startsWith('*')) {
      const rest = segments.slice(index);
      if (rest.length === 0 || rest.includes('')) return null;
      params[part.slice(1)] = rest.join('/');
      return params;
    }
    const segment = segments[index];
    if (segment === undefined) return null;
    if (part.startsWith(':')) {
      if (segment === '') return null;
      params[part.slice(1)] = segment;
    } else if (part !== segment) return null;
  }
  return segments.length === pattern.length ? params : null;
}

function notAllowed(methods: Iterable<Method>): Match {
  const names = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return { kind: 'method_not_allowed', allow: names.join(', ') };
}
