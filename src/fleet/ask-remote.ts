import { type HttpAnswer, requestJson } from '../platform/http-client.ts';

/** A remote may look through its disk, or start a program, before it answers. */
const ANSWER_MS = 25_000;
/** Far more than fifty links, one receipt or a refusal. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/** Asks the API of another host; `base` is the URL where it answers. Rejects as `requestJson` does. */
export function askRemote(
  base: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<HttpAnswer> {
  const limits = { deadline_ms: ANSWER_MS, most_bytes: MOST_ANSWER_BYTES };
  return requestJson({ to: { url: base }, method, path: `/api/v1${path}`, body, ...limits });
}
