import { BodyBytes } from './body-bytes.ts';
import { refusal } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { SlowBodies } from './slow-bodies.ts';

/**
 * Collects a request body over a buffer of its own. `done` gets all of it; `refused` is called instead, once and as
 * early as it is known, when it is larger than `limit` bytes or has not come whole within `timeout_ms`. Neither is
 * called when the client goes away. `length` is what was announced, null where nothing was.
 */
export function collectBody(
  exchange: Exchange,
  rules: { length: number | null; limit: number; timeout_ms: number; slow: SlowBodies },
  handlers: { done(body: Uint8Array): void; refused(error: Error): void },
): void {
  const { length, limit, timeout_ms, slow } = rules;
  let bytes: BodyBytes | null = new BodyBytes(length);
  const settle = () => {
    bytes = null;
    slow.remove(exchange);
  };
  exchange.readBody((chunk, last) => {
    if (bytes === null) return;
    if (bytes.size + chunk.length > limit) {
      settle();
      handlers.refused(tooLarge(limit));
      return;
    }
    bytes.add(chunk);
    if (!last) return;
    const body = bytes.take();
    settle();
    handlers.done(body);
  });
  slow.add(exchange, timeout_ms, () => {
    settle();
    const seconds = Math.round(timeout_ms / 1_000);
    handlers.refused(refusal('request_timeout', `The body did not come whole within ${seconds} s.`));
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
