import { refusal } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { SlowBodies } from './slow-bodies.ts';

const EMPTY = new Uint8Array(0);

/**
 * Collects a request body over a buffer of its own. `done` gets all of it; `refused` is called instead, once and as
 * early as it is known, when it is larger than `limit` bytes or has not come whole within `timeout_ms`. Neither is
 * called when the client goes away.
 */
export function collectBody(
  exchange: Exchange,
  rules: { limit: number; timeout_ms: number; slow: SlowBodies },
  handlers: { done(body: Uint8Array): void; refused(error: Error): void },
): void {
  const { limit, timeout_ms, slow } = rules;
  let chunks: Uint8Array[] = [];
  let size = 0;
  let settled = false;
  const settle = () => {
    settled = true;
    chunks = [];
    slow.remove(exchange);
  };
  exchange.readBody((chunk, last) => {
    if (settled) return;
    size += chunk.byteLength;
    if (size > limit) {
      settle();
      handlers.refused(tooLarge(limit));
      return;
    }
    if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk));
    if (!last) return;
    const body = chunks.length > 1 ? joined(chunks, size) : (chunks[0] ?? EMPTY);
    settle();
    handlers.done(body);
  });
  slow.add(exchange, timeout_ms, () => {
    settle();
    const seconds = Math.round(timeout_ms / 1_000);
    handlers.refused(refusal('request_timeout', `The body did not come whole within ${seconds} s.`));
  });
}

/** Never in a buffer that is shared with others, as `Buffer.concat` may: bodies are handed to threads. */
function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** The refusal of a body of more than `limit` bytes. */
export function tooLarge(limit: number): Error {
  return refusal('body_too_large', `The body is larger than the ${limit} bytes this route takes.`, { limit });
}

/** Decodes a JSON body; nothing at all counts as `{}`. Throws `unsupported_media_type` or `invalid_json`. */
export function parseJsonBody(body: Uint8Array, content_type: string | undefined): unknown {
  if (content_type === undefined ? body.length > 0 : !isJson(content_type)) {
    throw refusal('unsupported_media_type', 'The body must be sent with Content-Type: application/json.');
  }
  if (body.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw refusal('invalid_json', 'The body is not valid JSON in UTF-8.');
  }
}

function isJson(content_type: string): boolean {
  return content_type.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
}
