/** On a request that daemons pass on: the hosts that did, the first one first, separated by commas. */
export const HOPS_HEADER = 'svc-hops';
/** On the answer to such a request: the host whose daemon gave it. */
export const ANSWERED_BY_HEADER = 'svc-host';
/**
 * Why an answer is none of the host that was asked; null where it is one. To a request that names its host a refusal may
 * come in another name: that of the daemon which is not the one that was meant.
 */
export function answererFault(
  { status, by }: { status: number; by: string | string[] | undefined },
  host: string,
  takes_any = status >= 400,
): string | null {
  if (by === undefined)
    return `what answers there (with ${status}) is no daemon that takes requests of other hosts`;
  return !takes_any && by !== host ? 'what answers there gives the name of another host' : null;
}

/** Hosts that may pass on one request. */
export const MOST_HOPS = 8;
