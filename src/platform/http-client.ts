import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as plainRequest,
} from 'node:http';
import type { Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { messageOf, systemCode } from '../base/errors.ts';

/**
 * Where a server listens: a socket file, an address, or a URL that the path of a request is added to. `connect` makes the
 * connections to it that this machine cannot make by itself; none of them is kept.
 */
export type ServerAddress =
  | { socketPath: string }
  | { host: string; port: number }
  | { url: string; connect?: () => Promise<Duplex> };

/** Free connections to one server that are kept for the next request. */
const MOST_FREE_CONNECTIONS = 64;
/** Less than any server keeps a connection without a request, so that none is used while the server closes it. */
const FREE_CONNECTION_MS = 4_000;

/** Connections to other servers that are kept after an answer. Whoever uses them bounds how many requests there are. */
export class KeptConnections {
  readonly #rules = {
    keepAlive: true,
    maxFreeSockets: MOST_FREE_CONNECTIONS,
    timeout: FREE_CONNECTION_MS,
  } as const;
  readonly #plain = new Agent(this.#rules);
  #tls: Promise<TlsAgent> | null = null;

  agentFor(protocol: string | undefined): Agent | Promise<TlsAgent> {
    if (protocol !== 'https:') return this.#plain;
    this.#tls ??= import('node:https').then((https) => new https.Agent(this.#rules));
    return this.#tls;
  }

  /** Closes those that are free. */
  close(): void {
    this.#plain.destroy();
    void this.#tls?.then((agent) => agent.destroy());
  }
}

/**
 * Begins a request, whose body is still to be written, over one of the `kept` connections or over one of its own, which ends
 * with the answer. The path goes out as it is. Rejects where the URL or the path is none; what fails later is told by the
 * request.
 */
export async function openRequest(options: {
  to: ServerAddress;
  method: string;
  /** With its query. */
  path: string;
  headers: OutgoingHttpHeaders;
  kept?: KeptConnections | null;
  signal?: AbortSignal;
}): Promise<ClientRequest> {
  const { to, method, path, headers, kept, signal } = options;
  const url = 'url' in to ? new URL(to.url) : null;
  const base = url === null ? null : urlToHttpOptions(url);
  const prefix = url?.pathname.replace(/\/$/, '') ?? '';
  const open = url?.protocol === 'https:' ? (await import('node:https')).request : plainRequest;
  const connect = 'url' in to ? to.connect : undefined;
  const call = open({
    ...(base ?? to),
    method,
    path: `${prefix}${path}`,
    headers: { ...('socketPath' in to ? { host: 'localhost' } : {}), ...headers },
    ...(connect === undefined
      ? { agent: (await kept?.agentFor(url?.protocol)) ?? false }
      : { createConnection: connectionBy(connect) }),
    ...(signal && { signal }),
  });
  call.prependListener('error', (error: NodeJS.ErrnoException) => {
    // The parser names what it expected, which tells nobody that another kind of server listens there.
    if (error.code?.startsWith('HPE_')) error.message = 'its answer is not HTTP';
  });
  return call;
}

/** The same for a request of Node’s own client. */
export function connectionBy(connect: () => Promise<Duplex>) {
  return (_: unknown, made: (error: Error | null, stream: Duplex) => void): undefined => {
    connect().then(
      (stream) => made(null, stream),
      (error: Error) => made(error, undefined as never),
    );
  };
}

export type HttpRequest = {
  to: ServerAddress;
  method: 'GET' | 'POST';
  /** Including the query. */
  path: string;
  /** Besides those of the body and `accept`. */
  headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  body?: unknown;
  /** Timeout in milliseconds, until the whole answer has arrived. */
  deadline_ms: number;
  /** Limit of the answer's body, in bytes. */
  most_bytes: number;
  /** Gives the request up before its deadline. */
  signal?: AbortSignal;
};

type Received<Body> = { status: number; headers: IncomingHttpHeaders; body: Body };
/** An answer of any status, whose body is the bytes as they came. */
export type HttpBytes = Received<Buffer>;
/** An answer of any status; `body` is parsed JSON, the text of `text/plain`, or null where there is none. */
export type HttpAnswer = Received<unknown>;

/** The whole answer has not arrived within the deadline. */
export class AnswerTooLate extends Error {
  constructor(deadline_ms: number, cause: Error) {
    super(`no answer within ${deadline_ms / 1_000} s`, { cause });
  }
}

/** The answer has more bytes than are taken. */
export class AnswerTooLarge extends Error {
  constructor() {
    super('its answer is too large');
  }
}

/**
 * Makes one request over a new connection, which closes after the answer: a keep-alive connection would keep a command
 * from exiting. Follows no redirect. Rejects with an `Error` whose message says in a few words why there is no usable
 * answer.
 */
export async function requestBytes(request: HttpRequest): Promise<HttpBytes> {
  const { to, method, path, deadline_ms, most_bytes } = request;
  const bytes = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const deadline = AbortSignal.timeout(deadline_ms);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  const headers = {
    accept: 'application/json',
    ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': bytes.length }),
    ...request.headers,
  };
  const call = await openRequest({ to, method, path, headers, signal });
  return new Promise((resolve, reject) => {
    const failed = (cause: Error) =>
      reject(deadline.aborted ? new AnswerTooLate(deadline_ms, cause) : new Error(wordsOf(cause), { cause }));
    call.on('error', failed);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= most_bytes) {
          chunks.push(chunk);
          return;
        }
        // The rest may have been received already; then `end` is still emitted after `destroy`.
        reject(new AnswerTooLarge());
        call.destroy();
      });
      response.on('error', failed);
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, body: Buffer.concat(chunks) });
      });
    });
    call.end(bytes);
  });
}

/** A server that ends closes its connections, which the system tells in several ways. */
function wordsOf(error: NodeJS.ErrnoException): string {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE'
    ? 'it closed the connection'
    : messageOf(error);
}

/** As `requestBytes`, with the body parsed; one that is not JSON is no usable answer. */
export async function requestJson(request: HttpRequest): Promise<HttpAnswer> {
  const answer = await requestBytes(request);
  const text = answer.body.toString('utf8');
  if (answer.headers['content-type']?.startsWith('text/plain') === true) return { ...answer, body: text };
  try {
    return { ...answer, body: text === '' ? null : JSON.parse(text) };
  } catch (cause) {
    throw new Error('its answer is not JSON', { cause });
  }
}

/** Bytes of an answer that win a millisecond more to wait for the rest of it. */
export const LEAST_BYTES_PER_MS = 16;

export type PacedRequest = {
  to: ServerAddress;
  /** Including the query. */
  path: string;
  headers: OutgoingHttpHeaders;
  kept: KeptConnections | null;
  /** Milliseconds until the answer must have begun. */
  head_ms: number;
  /** Milliseconds that the rest of it may take; what comes wins time. */
  rest_ms: number;
  /** Whether a body of so many bytes is taken; asked as it grows. */
  takes(bytes: number): boolean;
  signal: AbortSignal;
};

/**
 * Reads an answer of any status whose length nobody knows, over one of the `kept` connections or over one of its own. A kept
 * one that was closed meanwhile is replaced once. Follows no redirect. Rejects with an `Error` whose message says in a few
 * words why there is no usable answer.
 */
export async function requestPaced(request: PacedRequest): Promise<HttpBytes> {
  const { to, path, headers, kept, signal } = request;
  const open = (over: KeptConnections | null) =>
    openRequest({ to, method: 'GET', path, headers, kept: over, signal });
  const first = await open(kept);
  try {
    return await receive(first, request);
  } catch (error) {
    if (!first.reusedSocket || signal.aborted || systemCode(error) !== 'ECONNRESET') throw error;
    return receive(await open(null), request);
  }
}

function receive(call: ClientRequest, { head_ms, rest_ms, takes }: PacedRequest): Promise<HttpBytes> {
  return new Promise((resolve, reject) => {
    let began = false;
    let until = performance.now() + head_ms;
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
      call.destroy();
    };
    const late = () => {
      const left = until - performance.now();
      if (left > 0) timer = setTimeout(late, left);
      else fail(new Error(began ? 'its answer comes too slowly' : `no answer within ${head_ms / 1_000} s`));
    };
    let timer = setTimeout(late, head_ms);
    call.on('error', fail);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      began = true;
      until = performance.now() + rest_ms;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        until += chunk.length / LEAST_BYTES_PER_MS;
        if (takes(size)) chunks.push(chunk);
        else fail(new AnswerTooLarge());
      });
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: Buffer.concat(chunks) });
      });
    });
    call.end();
  });
}
