import type { HttpRequest } from 'uWebSockets.js';

/** Copies of everything before the body; the library's own request object dies when its callback returns. */
export type RequestHead = {
  /** Upper case. */
  method: string;
  /** Raw: not decoded, without the query. */
  path: string;
  /** Raw, without `?`; empty where absent. */
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
  /** Why the message cannot be trusted to end where it says it does; null when it can. */
  fault: string | null;
};

/** An object without inherited names that the engine still keeps in its fast form. */
const HeaderTable = function HeaderTable() {} as unknown as new () => Record<string, string | undefined>;
HeaderTable.prototype = Object.create(null);

/** Copies the head and checks what the library lets through: two Hosts, two lengths, odd transfer codings. */
export function readHead(request: HttpRequest): RequestHead {
  const headers = new HeaderTable();
  let hosts = 0;
  let lengths = 0;
  request.forEach((name, value) => {
    if (name === 'host') hosts += 1;
    else if (name === 'content-length') lengths += 1;
    const known = headers[name];
    headers[name] = known === undefined ? value : `${known}, ${value}`;
  });
  return {
    method: request.getMethod().toUpperCase(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    fault: findFault(hosts, lengths, headers['transfer-encoding']),
  };
}

function findFault(hosts: number, lengths: number, coding: string | undefined): string | null {
  if (hosts !== 1) return 'The request must carry exactly one Host header.';
  if (lengths > 1) return 'The request carries more than one Content-Length header.';
  if (coding !== undefined && (lengths > 0 || coding.toLowerCase() !== 'chunked')) {
    return 'The only transfer coding a request may use is chunked, and then without a Content-Length.';
  }
  return null;
}
