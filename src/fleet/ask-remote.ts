import { ANSWERED_BY_HEADER, answererFault, HOPS_HEADER } from '../contract/http/forwarding.ts';
import { type HttpAnswer, requestJson } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';
import type { Place } from './read-remote.ts';

/** A remote may look through its disk, or start a program, before it answers. */
const ANSWER_MS = 25_000;
/** Far more than fifty links, one receipt or a refusal. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * Asks the API of another host where it answers. `hops` are the hosts that the request has come through, this one last.
 * Rejects as `requestJson` and `serverAt` do, and where somebody else answers.
 */
export async function askRemote(
  { name, address }: Place,
  {
    hops,
    deadline_ms = ANSWER_MS,
    names_host = true,
    ...request
  }: {
    method: 'GET' | 'POST';
    path: string;
    body?: unknown;
    hops: readonly string[];
    deadline_ms?: number;
    /** Whether the request says which host it is for, so that another one refuses it. */
    names_host?: boolean;
  },
): Promise<HttpAnswer> {
  const answer = await requestJson({
    ...request,
    to: await serverAt(address),
    path: `/api/v1${request.path}`,
    headers: { [HOPS_HEADER]: hops.join(', ') },
    ...{ deadline_ms, most_bytes: MOST_ANSWER_BYTES },
  });
  const { status, headers } = answer;
  const fault = answererFault(
    { status, by: headers[ANSWERED_BY_HEADER] },
    name,
    names_host ? undefined : false,
  );
  if (fault !== null) throw new Error(fault);
  return answer;
}
