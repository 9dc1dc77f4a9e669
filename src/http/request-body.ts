import { BodyBytes } from './body-bytes.ts';
import { refusal } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { SlowBodies } from './slow-bodies.ts';

/** Time for a whole body where its row says nothing, in milliseconds. */
export const BODY_TIMEOUT_MS = 30_000;

/**
 * Collects a request body over a buffer of its own. `done` gets all of it; `refused` is called instead, once and as
 * early as it is known, when it is larger than `limit` bytes, has not come whole within `timeout_ms`, or `hasRoom` is
 * false for what has come so far. Neither is called when the client goes away. `length` is what was announced, null
 * where nothing was. `came` sees each piece after it was added. `discard` gives back what has come of a body that nobody
 * waits for any more; `divert` takes it out and has the rest handed to `sink`, under the same rules.
 */
export function collectBody(
  exchange: Exchange,
  rules: {
    length: number | null;
    limit: number;
    timeout_ms: number;
    slow: SlowBodies;
    hasRoom: (bytes: number) => boolean;
  },
  handlers: { done(body: Uint8Array): void; refused(error: Error): void; came?(chunk: Uint8Array): void },
): CollectedBody {
  const { length, limit, timeout_ms, slow, hasRoom } = rules;
  const bytes = new BodyBytes(length);
  let size = 0;
  let sink: BodySink | null = null;
  let awaited = true;
  const settle = () => {
    awaited = false;
    slow.remove(exchange);
  };
  const discard = () => {
    if (awaited && sink === null) bytes.discard();
    settle();
  };
  exchange.readBody((chunk, last) => {
    if (!awaited) return;
    size += chunk.length;
    if (size > limit || (sink === null && !hasRoom(size))) {
      discard();
      handlers.refused(size > limit ? tooLarge(limit) : noMemory());
      return;
    }
    if (sink === null) {
      bytes.add(chunk);
      handlers.came?.(chunk);
    } else sink.write(chunk);
    if (!last || !awaited) return;
    settle();
    if (sink === null) handlers.done(bytes.take());
    else sink.end();
  });
  slow.add(exchange, timeout_ms, () => {
    discard();
    const seconds = Math.round(timeout_ms / 1_000);
    handlers.refused(refusal('request_timeout', `The body was not complete within ${seconds} s.`));
  });
  return {
    discard,
    divert(to) {
      sink = to;
      return bytes.take();
    },
  };
}

export type CollectedBody = { discard(): void; divert(sink: BodySink): Uint8Array };
/** Where a body goes that is not collected; a chunk is only lent. */
export type BodySink = { write(chunk: Uint8Array): void; end(): void };

/** The refusal of a body of more than `limit` bytes. */
export function tooLarge(limit: number): Error {
  return refusal('body_too_large', `The body is larger than the ${limit} bytes this route takes.`, { limit });
}

/** The refusal of a body for which there is no memory now. */
export function noMemory(): Error {
  return refusal(
    'memory_full',
    'Other requests use all the memory that is reserved for bodies; send it again in a moment.',
  );
}

/**
 * Decodes a JSON body; nothing at all counts as `{}`. Throws `unsupported_media_type` for another type or charset, and
 * `invalid_json` for bytes that are no UTF-8 or no JSON.
 */
export function parseJsonBody(body: Uint8Array, content_type: string | undefined): unknown {
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
