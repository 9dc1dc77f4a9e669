import type { OutgoingHttpHeaders } from 'node:http';
import type { RemoteAddress } from '../contract/remote-address.ts';
import { type HttpAnswer, requestJson } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';

/** A remote may look through its disk, or start a program, before it answers. */
const ANSWER_MS = 25_000;
/** Far more than fifty links, one receipt or a refusal. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/** Asks the API of another host where it answers. Rejects as `requestJson` and `serverAt` do. */
export async function askRemote(
  address: RemoteAddress,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  more: { deadline_ms?: number; headers?: OutgoingHttpHeaders } = {},
): Promise<HttpAnswer> {
  const limits = { deadline_ms: ANSWER_MS, most_bytes: MOST_ANSWER_BYTES };
  return requestJson({
    to: await serverAt(address),
    method,
    path: `/api/v1${path}`,
    body,
    ...limits,
    ...more,
  });
}
