import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { messageOf } from '../base/errors.ts';

/** Where a server listens: a socket file, an address, or a URL that the path of a request is added to. */
export type ServerAddress = { socketPath: string } | { host: string; port: number } | { url: string };

export type HttpRequest = {
  to: ServerAddress;
  method: 'GET' | 'POST';
  /** Including the query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Timeout in milliseconds, until the whole answer has arrived. */
  deadline_ms: number;
  /** Limit of the answer's body, in bytes. */
  most_bytes: number;
};

/** An answer of any status; `body` is parsed JSON, the text of `text/plain`, or null where there is none. */
export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; body: unknown };

/**
 * Makes one request over a new connection, which closes after the answer: a keep-alive connection would keep a command
 * from exiting. Follows no redirect. Rejects with an `Error` whose message says in a few words why there is no usable
 * answer.
 */
export async function requestJson(request: HttpRequest): Promise<HttpAnswer> {
  const { to, method, path, deadline_ms, most_bytes } = request;
  const bytes = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const options = {
    method,
    agent: false,
    headers: {
      accept: 'application/json',
      ...('socketPath' in to ? { host: 'localhost' } : {}),
      ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': bytes.length }),
    },
    signal: AbortSignal.timeout(deadline_ms),
  };
  const url = 'url' in to ? new URL(`${to.url}${path}`) : null;
  const open = url?.protocol === 'https:' ? (await import('node:https')).request : plainRequest;
  return new Promise((resolve, reject) => {
    const failed = (cause: Error) =>
      reject(
        new Error(options.signal.aborted ? `no answer within ${deadline_ms / 1_000} s` : messageOf(cause), {
          cause,
        }),
      );
    const call = url === null ? open({ ...options, ...to, path }) : open(url, options);
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
        failed(new Error('its answer is too large'));
        call.destroy();
      });
      response.on('error', failed);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        const text = Buffer.concat(chunks).toString('utf8');
        try {
          const isText = headers['content-type']?.startsWith('text/plain') === true;
          resolve({ status, headers, body: isText ? text : text === '' ? null : JSON.parse(text) });
        } catch (cause) {
          reject(new Error('its answer is not JSON', { cause }));
        }
      });
    });
    call.end(bytes);
  });
}
