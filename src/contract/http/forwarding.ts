/** On a request that daemons pass on: the hosts that did, the first one first, separated by commas. */
export const HOPS_HEADER = 'svc-hops';
/** On the answer to such a request: the host whose daemon gave it. */
export const ANSWERED_BY_HEADER = 'svc-host';
/** Hosts that may pass on one request. */
export const MOST_HOPS = 8;
