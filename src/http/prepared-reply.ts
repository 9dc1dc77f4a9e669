import { STATUS_CODES } from 'node:http';
import { wantedOf } from './content-range.ts';
import { isTag, namesTag } from './entity-tag.ts';
import type { Reply } from './row.ts';

/** An answer that only has to be written: every value in it has been checked. */
export type PreparedReply = {
  status: number;
  status_line: string;
  /** The value of the header `FIRST_HEADER` and after it every other header but the length, in lines. */
  headers: string;
  /** Null: this status has no body and no length (204, 304). */
  body: string | Uint8Array | StreamedBody | null;
};

/** A body that is read while it is sent: `size` bytes of it. */
export type StreamedBody = { size: number; read(): AsyncIterable<Uint8Array> };

/** What of a request decides how it is answered. */
export type AnswerTo = {
  id: string;
  /** GET or HEAD. */
  reads: boolean;
  headers: Readonly<Record<string, string | undefined>>;
};

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** Every answer begins with this header, so that the whole block can be written as its value in one call. */
export const FIRST_HEADER = 'X-Content-Type-Options';
/** On every answer: nobody may sniff, frame into another origin's process, or learn where a link was. */
const FIXED =
  'nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Request-Id: ';

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
  return { status, status_line, headers: headersOf(reply, request.id, body !== null), body };
}

/** The whole of a content or the range of it that is asked for. */
function prepareContent(reply: Extract<Reply, { content: object }>, request: AnswerTo): PreparedReply {
  const { content } = reply;
  const last_modified = lastModified(reply);
  const wanted = wantedOf(request.headers, { size: content.size, etag: reply.etag ?? null, last_modified });
  const [status, [from, end]] =
    wanted.kind === 'part' ? [206, [wanted.from, wanted.end]] : [200, [0, content.size]];
  const refused = wanted.kind === 'none';
  let headers = `${headersOf(reply, request.id, !refused)}\r\nAccept-Ranges: bytes`;
  if (refused) headers += `\r\nContent-Range: bytes */${content.size}`;
  else if (status === 206) headers += `\r\nContent-Range: bytes ${from}-${end - 1}/${content.size}`;
  return {
    status: refused ? 416 : status,
    status_line: STATUS_LINES.get(refused ? 416 : status)!,
    headers,
    body: refused || from === end ? '' : { size: end - from, read: () => content.read(from, end) },
  };
}

function lastModified(reply: Reply): string | null {
  return 'content' in reply && reply.last_modified !== undefined
    ? new Date(reply.last_modified).toUTCString()
    : null;
}

function headersOf(reply: Reply, request_id: string, with_type: boolean): string {
  let text = FIXED + request_id;
  if (with_type && !('empty' in reply)) {
    text += `\r\nContent-Type: ${'json' in reply ? 'application/json' : checked(reply.content_type)}`;
  }
  const modified = lastModified(reply);
  if (modified !== null) text += `\r\nLast-Modified: ${modified}`;
  if (typeof reply.etag === 'string') text += `\r\nETag: ${reply.etag}`;
  let caches = false;
  if (reply.headers !== undefined) {
    for (const [name, value] of Object.entries(reply.headers)) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        throw new Error(`not a header name: ${JSON.stringify(name)}`);
      caches ||= name.toLowerCase() === 'cache-control';
      text += `\r\n${name}: ${checked(value)}`;
    }
  }
  return caches ? text : `${text}\r\nCache-Control: no-cache`;
}

function bodyOf(reply: Reply): string | Uint8Array | StreamedBody {
  if ('empty' in reply) return '';
  if ('bytes' in reply) return reply.bytes;
  if ('content' in reply) {
    const { content } = reply;
    return content.size === 0 ? '' : { size: content.size, read: () => content.read(0, content.size) };
  }
  const text = JSON.stringify(reply.json);
  if (text === undefined) throw new Error('the reply is not a JSON value');
  return text;
}

function checked(value: string): string {
  if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`not a header value: ${JSON.stringify(value)}`);
  return value;
}
