/** Copies of everything before the body; the transport's own objects may die when their callback returns. */
export type RequestHead = {
  /** Upper case. */
  method: string;
  /** Raw: not decoded, without the query. */
  path: string;
  /** Raw, without `?`; empty where absent. */
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
  /** Why the message cannot be trusted to end where it says it does; null when it can. */
  fault: string | null;
};

/** An object without inherited names that the engine still keeps in its fast form. */
const HeaderTable = function HeaderTable() {} as unknown as new () => Record<string, string | undefined>;
HeaderTable.prototype = Object.create(null);

/** Collects the headers of one request as a transport hands them over, in order and with names in lower case. */
export class HeaderCollector {
  readonly headers: Record<string, string | undefined> = new HeaderTable();
  #hosts = 0;
  #lengths = 0;
  #nameless = false;

  add(name: string, value: string): void {
    if (name === 'host') this.#hosts += 1;
    else if (name === 'content-length') this.#lengths += 1;
    else if (name === '') this.#nameless = true;
    const known = this.headers[name];
    this.headers[name] = known === undefined ? value : `${known}, ${value}`;
  }

  /** What no transport may let through: not one Host, two lengths, odd transfer codings. */
  fault(): string | null {
    if (this.#hosts !== 1) return 'The request must carry exactly one Host header.';
    if (this.#lengths > 1) return 'The request carries more than one Content-Length header.';
    const length = this.headers['content-length'];
    if (length !== undefined && !/^\d{1,15}$/.test(length)) return 'The Content-Length is not a number.';
    if (this.#nameless) return 'The request carries a header without a name.';
    const coding = this.headers['transfer-encoding'];
    if (coding !== undefined && (this.#lengths > 0 || coding.toLowerCase() !== 'chunked')) {
      return 'The only transfer coding a request may use is chunked, and then without a Content-Length.';
    }
    return null;
  }
}

/** The only version of the protocol that there is (RFC 6455). */
const VERSION = '13';

/** Another protocol that a client would rather speak, such as h2c, may be passed over; frames may not. */
export function asksForSocket({ headers: { upgrade } }: RequestHead): boolean {
  return upgrade !== undefined && /(?:^|[, \t])websocket(?:[/, \t]|$)/i.test(upgrade);
}

/** What is wrong with a request that asks for a WebSocket; null where it is a whole handshake. */
export function handshakeFault({ method, headers }: RequestHead): string | null {
  if (method !== 'GET') return 'A WebSocket is opened with GET.';
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'Upgrade must name websocket and nothing else.';
  if (!/(?:^|[, \t])upgrade(?:[, \t]|$)/i.test(headers.connection ?? ''))
    return 'Connection must name Upgrade.';
  if (headers['sec-websocket-version'] !== VERSION) return `Sec-WebSocket-Version must be ${VERSION}.`;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return 'Sec-WebSocket-Key must be one key of 16 bytes in base64.';
  return null;
}

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

/** The query of a page as a browser reads it: of a repeated name the first value, and no encoding is malformed. */
export function pageQuery(query: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(query)].reverse());
}

function decodePart(text: string): string | null {
  return decodeOnce(text.replaceAll('+', ' '));
}
