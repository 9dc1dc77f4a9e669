import type { HttpResponse } from 'uWebSockets.js';
import { refusal } from './error-reply.ts';

const EMPTY = new Uint8Array(0);

/**
 * Collects a request body. `done` gets all of it; `refused` is called instead, once and as early as it is
 * known, when it is larger than `limit` bytes. Neither is called when the client goes away.
 */
export function collectBody(
  response: HttpResponse,
  limit: number,
  handlers: { done(body: Uint8Array): void; refused(error: Error): void },
): void {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let settled = false;
  response.onData((chunk, isLast) => {
    if (settled) return;
    size += chunk.byteLength;
    if (size > limit) {
      settled = true;
      chunks = [];
      handlers.refused(tooLarge(limit));
      return;
    }
    // The library takes the chunk's memory back when this callback returns.
    if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)));
    if (!isLast) return;
    settled = true;
    handlers.done(chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? EMPTY));
  });
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
