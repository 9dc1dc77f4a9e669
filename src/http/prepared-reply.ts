import { STATUS_CODES } from 'node:http';
import { dataType, SANDBOX_SECURITY_HEADERS, SECURITY_HEADERS } from '../access/security-headers.ts';
import type { Coding } from './content-coding.ts';
import { wantedOf } from './content-range.ts';
import { Pieces, type WholeBody } from './pieces.ts';
import type { Content, Reply } from './reply.ts';

/** An answer that only has to be written: every value in it has been checked. */
export type PreparedReply = {
  status: number;
  status_line: string;
  /** The value of the header `FIRST_HEADER` and after it every other header but the length, in lines. */
  headers: string;
  /** Null: this status has no body and no length (204, 304). */
  body: WholeBody | ReadBody | null;
  /** The content coding that its body is to be packed in; null: as it is. */
  coding: Coding | null;
};

/** A body that is read while it is sent: `size` bytes of it, of which any part may be read again. */
export type StreamedBody = { size: number; read(from: number, end: number): AsyncIterable<Uint8Array> };

/** A body without a length, which its source ends. */
export type OpenBody = { stream: AsyncIterable<Uint8Array> };

/** What another host answers, as it comes: `size` bytes, or as many as its chunks have where that is null. */
export type RelayedBody = { relayed: AsyncIterable<Uint8Array>; size: number | null };

/** A body that is read while it is sent. */
export type ReadBody = StreamedBody | OpenBody | RelayedBody;

export function isRead(body: WholeBody | ReadBody): body is ReadBody {
  return typeof body === 'object' && ('read' in body || 'stream' in body || 'relayed' in body);
}

/** What of a request decides how it is answered. */
export type AnswerTo = {
  id: string;
  /** GET or HEAD. */
  reads: boolean;
  headers: Readonly<Record<string, string | undefined>>;
  /** What the row says of its answers. */
  row: { compress?: boolean; sandbox?: boolean; runs?: boolean };
};

export const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** Every answer begins with this header, so that the whole block can be written as its value in one call. */
export const FIRST_HEADER = 'X-Content-Type-Options';
/** The security headers of every answer as lines, without the name of the first. */
const FIXED = fixedLines(SECURITY_HEADERS);
const FIXED_SANDBOX = fixedLines(SANDBOX_SECURITY_HEADERS);
const FIXED_NAMES = new Set(
  [SECURITY_HEADERS, SANDBOX_SECURITY_HEADERS].flatMap((set) =>
    Object.keys(set).map((name) => name.toLowerCase()),
  ),
);

function fixedLines(headers: Readonly<Record<string, string>>): string {
  const { [FIRST_HEADER]: first, ...rest } = headers;
  const lines = Object.entries(rest).map(([name, value]) => `${name}: ${checked(value)}`);
  return [first ?? 'nosniff', ...lines].join('\r\n');
}

/**
 * Turns a reply into what goes over the wire, answering a conditional GET with 304 and one for a range with 206
 * or 416. Throws, before anything has been written, on a header that could end its line early and on what is no
 * entity tag.
 */
export function prepareReply(reply: Reply, request: AnswerTo): PreparedReply {
  const { etag } = reply;
  if (etag !== undefined && etag !== null && !isTag(etag)) throw new Error(`not an entity tag: ${etag}`);
  const fresh =
    reply.status === 200 &&
    typeof etag === 'string' &&
    request.reads &&
    namesTag(request.headers['if-none-match'], etag);
  if ('content' in reply && reply.status === 200 && request.reads && !fresh)
    return prepareContent(reply, request);
  const status = fresh ? 304 : reply.status;
  const status_line = STATUS_LINES.get(status);
  if (status_line === undefined) throw new Error(`not an HTTP status: ${status}`);
  const body = status === 304 || status === 204 ? null : bodyOf(reply);
  const packable = isPackable(reply, request, body);
  const headers = headersOf(reply, request, body !== null);
  return {
    status,
    status_line,
    // Also on 304: it stands for the answer that would have come.
    headers: packable ? `${headers}\r\nVary: Accept-Encoding` : headers,
    body,
    coding: packable && body !== null ? codingOf(request.headers['accept-encoding']) : null,
  };
}

/** The whole of a content or the range of it that is asked for. */
function prepareContent(reply: Extract<Reply, { content: object }>, request: AnswerTo): PreparedReply {
  const { content } = reply;
  // A date is dear to spell, and asked for with a range alone.
  const last_modified = request.headers['if-range'] === undefined ? null : lastModified(reply);
  const wanted = wantedOf(request.headers, { size: content.size, etag: reply.etag ?? null, last_modified });
  const [status, [from, end]] =
    wanted.kind === 'part' ? [206, [wanted.from, wanted.end]] : [200, [0, content.size]];
  const refused = wanted.kind === 'none';
  let headers = `${headersOf(reply, request, !refused)}\r\nAccept-Ranges: bytes`;
  if (refused) headers += `\r\nContent-Range: bytes */${content.size}`;
  else if (status === 206) headers += `\r\nContent-Range: bytes ${from}-${end - 1}/${content.size}`;
  return {
    status: refused ? 416 : status,
    status_line: STATUS_LINES.get(refused ? 416 : status)!,
    headers,
    body: refused ? '' : partOf(content, from, end),
    coding: null,
  };
}

/** The same answer for a later turn: who gave its pieces may need their memory by then. */
export function keptReply(reply: PreparedReply): PreparedReply {
  return reply.body instanceof Pieces ? { ...reply, body: reply.body.joined() } : reply;
}

/** The same answer with its body packed; its entity tag is weak from then on, for it names both forms. */
export function packedReply(reply: PreparedReply, body: Uint8Array, coding: Coding): PreparedReply {
  const headers = reply.headers.replace('\r\nETag: "', '\r\nETag: W/"');
  return { ...reply, headers: `${headers}\r\nContent-Encoding: ${coding}`, body };
}

/** The header lines of answers that are given to several requests: the same for each, but for its id. */
const linesOfEncoded = new WeakMap<Reply, { typed: HeaderLines | null; bare: HeaderLines | null }>();

/** The same answer with its JSON encoded, for one that is given to several requests; it must not be changed any more. */
export function encodedReply(reply: Reply): Reply {
  if ('stream' in reply) throw new Error('an open-ended answer cannot be shared');
  const encoded = 'json' in reply ? bytesOfJson(reply) : reply;
  // An answer that is kept comes here each time it is given.
  if (!linesOfEncoded.has(encoded)) linesOfEncoded.set(encoded, { typed: null, bare: null });
  return encoded;
}

function bytesOfJson({ json, ...head }: Extract<Reply, { json: unknown }>): Reply {
  return { ...head, bytes: Buffer.from(textOf(json)), content_type: 'application/json' };
}

/** JSON of fewer bytes is not compressed. */
const LEAST_PACKED_BYTES = 1_024;
/** JSON, and the texts of the board. */
const PACKABLE_TYPE = /^(?:application\/(?:[a-z.-]+\+)?json|text\/(?:html|css|javascript)|image\/svg\+xml)\b/;

function isPackable(reply: Reply, { row, reads }: AnswerTo, body: PreparedReply['body']): boolean {
  if (row.compress === false || !reads || reply.status !== 200) return false;
  if ('json' in reply) return body === null || (body as string).length >= LEAST_PACKED_BYTES;
  const finished = 'bytes' in reply ? reply.bytes : 'pieces' in reply ? reply.pieces : null;
  return (
    finished !== null &&
    finished.length >= LEAST_PACKED_BYTES &&
    'content_type' in reply &&
    PACKABLE_TYPE.test(reply.content_type)
  );
}

function lastModified(reply: Reply): string | null {
  return 'content' in reply && reply.last_modified !== undefined
    ? new Date(reply.last_modified).toUTCString()
    : null;
}

/** What stands before the id of the request and what stands after it. */
type HeaderLines = { before: string; after: string };

function headersOf(reply: Reply, { id, row }: AnswerTo, with_type: boolean): string {
  const { before, after } = headerLinesOf(reply, row, with_type);
  return `${before}\r\nX-Request-Id: ${id}${after}`;
}

function headerLinesOf(reply: Reply, row: AnswerTo['row'], with_type: boolean): HeaderLines {
  const kept = linesOfEncoded.get(reply);
  if (kept === undefined) return makeHeaderLines(reply, row, with_type);
  const form = with_type ? 'typed' : 'bare';
  kept[form] ??= makeHeaderLines(reply, row, with_type);
  return kept[form];
}

function makeHeaderLines(reply: Reply, row: AnswerTo['row'], with_type: boolean): HeaderLines {
  let after = '';
  if (with_type && ('json' in reply || 'content_type' in reply)) {
    const type = 'json' in reply ? 'application/json' : checked(reply.content_type);
    after = `\r\nContent-Type: ${row.runs === true ? type : dataType(type)}`;
  }
  const modified = lastModified(reply);
  if (modified !== null) after += `\r\nLast-Modified: ${modified}`;
  if (typeof reply.etag === 'string') after += `\r\nETag: ${reply.etag}`;
  let caches = false;
  if (reply.headers !== undefined) {
    for (const [name, value] of Object.entries(reply.headers)) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        throw new Error(`not a header name: ${JSON.stringify(name)}`);
      caches ||= name.toLowerCase() === 'cache-control';
      after += `\r\n${name}: ${checked(value)}`;
    }
  }
  if (!caches) after += '\r\nCache-Control: no-cache';
  return { before: fixedOf(reply, row), after };
}

/** A reply that names one of the security headers itself replaces it. */
function fixedOf({ headers }: Reply, row: AnswerTo['row']): string {
  const fixed = row.sandbox === true ? FIXED_SANDBOX : FIXED;
  if (headers === undefined) return fixed;
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (![...own].some((name) => FIXED_NAMES.has(name))) return fixed;
  const [first, ...rest] = fixed.split('\r\n');
  return [first, ...rest.filter((line) => !own.has(line.slice(0, line.indexOf(':')).toLowerCase()))].join(
    '\r\n',
  );
}

function bodyOf(reply: Reply): WholeBody | ReadBody {
  if ('empty' in reply) return '';
  if ('relayed' in reply) return { relayed: reply.relayed, size: reply.size };
  if ('bytes' in reply) return reply.bytes;
  if ('pieces' in reply) return reply.pieces;
  if ('stream' in reply) return { stream: reply.stream };
  if ('content' in reply) return partOf(reply.content, 0, reply.content.size);
  return textOf(reply.json);
}

function partOf(content: Content, from: number, end: number): string | Uint8Array | StreamedBody {
  if (from === end) return '';
  const held = content.held?.() ?? null;
  return held === null
    ? { size: end - from, read: (at, to) => content.read(from + at, from + to) }
    : held.subarray(from, end);
}

function textOf(json: unknown): string {
  const text = JSON.stringify(json);
  if (text === undefined) throw new Error('the reply is not a JSON value');
  return text;
}

function checked(value: string): string {
  if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`not a header value: ${JSON.stringify(value)}`);
  return value;
}

/** The coding that an `Accept-Encoding` header likes best, br where it likes both the same; null for none of ours. */
export function codingOf(header: string | undefined): Coding | null {
  if (header === undefined) return null;
  const likes: Record<Coding, number | null> = { br: null, gzip: null };
  let others = 0;
  for (const part of header.toLowerCase().split(',')) {
    const match = /^\s*([a-z0-9-]+|\*)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(part);
    if (match === null) continue;
    const quality = match[2] === undefined ? 1 : Number(match[2]);
    const name = match[1] === 'x-gzip' ? 'gzip' : match[1]!;
    if (name === 'br' || name === 'gzip') likes[name] = quality;
    else if (name === '*') others = quality;
  }
  const br = likes.br ?? others;
  const zip = likes.gzip ?? others;
  if (br === 0 && zip === 0) return null;
  return br >= zip ? 'br' : 'gzip';
}

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
