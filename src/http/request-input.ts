import type { z } from 'zod';
import { placeOf, readInput, sentenceOfFault } from '../contract/read-input.ts';
import { refusal } from './error-reply.ts';
import { FieldScan } from './field-scan.ts';
import type { Call } from './request-call.ts';
import { pageQuery, parseQuery } from './request-head.ts';
import type { Route, Routing } from './routing.ts';
import type { Row } from './row.ts';

/**
 * Reads the query and the body of a request, finds out which daemon they are for, and checks them against the row of the
 * request unless another daemon answers.
 */
export class RequestInput {
  readonly #route: Route;

  constructor(route: Route) {
    this.#route = route;
  }

  /**
   * Undefined where the row has none, or where the request is passed on. Throws `invalid_request` for a host that is named
   * here instead of in the body: the write would succeed on the wrong machine.
   */
  query(call: Call, row: Row): unknown {
    if (row.query !== undefined) return this.#parsed(call, row, row.query);
    if (row.method !== 'GET' && row.routing !== 'local' && 'origin' in readQuery(call.head.query))
      throw refusal(
        'invalid_request',
        'The query names an origin, which this route reads from the body; put "origin" into the body.',
        { issues: [] },
      );
    return undefined;
  }

  #parsed(call: Call, row: Row, schema: z.ZodType): unknown {
    const { query: text } = call.head;
    const last = lastQueries.get(row);
    if (last?.text === text) {
      this.#settle(call, row, last.values);
      return last.value;
    }
    const values = row.page_query === true ? pageQuery(text) : readQuery(text);
    this.#settle(call, row, values);
    if (call.forward !== null) return undefined;
    const value = Object.freeze(parseInput(schema, values, 'query'));
    lastQueries.set(row, { text, values, value });
    return value;
  }

  /** The bytes as they came where the row takes bytes, or where the request is passed on. */
  body(call: Call, row: Row, bytes: Uint8Array, content_type: string | undefined): unknown {
    if (row.body === 'bytes') return bytes;
    const json = parseJsonBody(bytes, content_type);
    this.#settle(call, row, json);
    if (call.forward !== null) return bytes;
    return row.body === undefined ? undefined : parseInput(row.body, json, 'body');
  }

  /** A body that is not parsed here is looked through for the host that it names while it comes. */
  looksInBody({ body, routing }: Row): boolean {
    return body === 'bytes' && (routing === 'owner' || routing === 'host');
  }

  /** Sees the pieces of a body; calls `divert` once it is for another host, `refused` where it is for none. */
  finder(call: Call, row: Row, divert: () => void, refused: (error: unknown) => void) {
    const fields = ['origin', ...(row.addressed === undefined ? [] : [row.addressed.field])];
    const scans = fields.map((field) => ({ field, scan: new FieldScan(field) }));
    let routed = false;
    return (chunk: Uint8Array) => {
      try {
        for (const { field, scan } of scans) {
          scan.feed(chunk);
          if (scan.ambiguous)
            throw refusal('invalid_request', `The body names its ${field} twice.`, { issues: [] });
          // What came first decides, and in one piece the origin does, as in a body that is parsed at once.
          if (routed || scan.value === undefined) continue;
          routed = true;
          this.#settle(call, row, { [field]: scan.value });
          if (call.forward !== null) divert();
        }
      } catch (error) {
        refused(error);
      }
    };
  }

  /** Comes before the schemas: what is meant for another host is not for this one to judge. */
  #settle(call: Call, row: Row, input: unknown): void {
    if (row.begins_here?.(input) === true) return;
    const origin = namedHost(row.routing, input);
    const named = origin ?? addressedHost(row, input);
    if (named === undefined) return;
    const destination = this.#route(row.routing, named, call.hops, row.method !== 'GET');
    if (destination.kind === 'local') return;
    if (destination.kind === 'refused') {
      if (origin === undefined && destination.code === 'unknown_host') return;
      throw refusal(destination.code, destination.message, destination.details);
    }
    const { host, address, silent } = destination;
    if (row.remote !== undefined) call.remote = host;
    else if (address !== null) call.forward = { host, address, silent };
    else
      throw refusal('unknown_host', `No address of "${host}" is known here; see: svc remotes list`, {
        origin: host,
      });
  }
}

/** The host that a parsed query or body names, if it names one. */
export function namedHost(routing: Routing, input: unknown): string | undefined {
  if (routing === 'local' || routing === 'fan-in' || typeof input !== 'object' || input === null)
    return undefined;
  const name = typeof routing === 'object' ? routing.param : 'origin';
  const value: unknown = Object.getOwnPropertyDescriptor(input, name)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** The host that the address in a body means, if it has one. */
function addressedHost(
  { addressed }: { addressed?: { field: string; hostIn(value: string): string | undefined } },
  input: unknown,
): string | undefined {
  if (addressed === undefined || typeof input !== 'object' || input === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(input, addressed.field)?.value;
  return typeof value === 'string' ? addressed.hostIn(value) : undefined;
}

function readQuery(text: string): Record<string, string> {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw refusal('invalid_request', parsed.message, { issues: [] });
  return parsed.values;
}

/** What each row's last acceptable query meant: a client that polls sends the same one again and again. */
const lastQueries = new WeakMap<Row, { text: string; values: Record<string, string>; value: unknown }>();

/** Issues that an answer lists; a body of some MB can have hundreds of thousands. */
const MOST_ISSUES = 50;

/** Parses an input with a schema; throws `invalid_request` listing its first issues. */
function parseInput(schema: z.ZodType, input: unknown, part: 'body' | 'query'): unknown {
  const read = readInput(schema, input);
  if (read.success) return read.data;
  const issues = read.faults
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => ({ path: placeOf(path), message }));
  throw refusal('invalid_request', `${sentenceOfFault(read.faults[0], `The ${part}`)}.`, { issues });
}

/**
 * Decodes a JSON body; nothing at all counts as `{}`. Throws `unsupported_media_type` for another type or charset, and
 * `invalid_json` for bytes that are no UTF-8 or no JSON.
 */
function parseJsonBody(body: Uint8Array, content_type: string | undefined): unknown {
  const type = content_type === undefined ? null : parseContentType(content_type);
  if (type === null ? body.length > 0 : type.media_type !== 'application/json') {
    throw refusal('unsupported_media_type', 'The body must be sent with Content-Type: application/json.');
  }
  if (type !== null && !type.charsets.every(isUtf8)) {
    throw refusal(
      'unsupported_media_type',
      'JSON must be UTF-8; encode the body in UTF-8 and leave the charset out of the Content-Type.',
    );
  }
  if (body.length === 0) return {};
  if (hasUtf16Mark(body)) {
    throw refusal('invalid_json', 'The body begins with the byte order mark of UTF-16; encode it in UTF-8.');
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw refusal('invalid_json', 'The body is not valid UTF-8; encode it in UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw refusal('invalid_json', 'The body is not valid JSON.');
  }
}

function parseContentType(header: string): { media_type: string; charsets: string[] } {
  const [media_type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charsets = parameters.flatMap((parameter) => /^charset\s*=\s*(.*)$/.exec(parameter)?.[1] ?? []);
  return { media_type, charsets };
}

/** ASCII is a part of UTF-8. */
function isUtf8(charset: string): boolean {
  return /^(["']?)(?:utf-?8|us-ascii)\1$/.test(charset);
}

function hasUtf16Mark([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
