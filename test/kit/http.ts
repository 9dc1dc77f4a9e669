import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export type Json = Record<string, unknown>;

/** An answer as it came over the wire; `body` is its parsed JSON, null where there is none. */
export type Answer<T = Json> = { status: number; headers: IncomingHttpHeaders; text: string; body: T };

export type Http = {
  /** `path` is below `/api/v1` unless it starts with `//`. */
  get<T = Json>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  post<T = Json>(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
};

import { checkAnswer } from './api-check.ts';

/**
 * A client of its own connection for each request; `address` gives `host:port` or `unix:/path`. It gives up after
 * `most_ms`.
 */
export function createHttp(address: () => string, most_ms = 30_000): Http {
  const send = async <T>(method: string, path: string, headers: Record<string, string>, body?: string) => {
    const answer = await exchange<T>(method, path, headers, body);
    await checkAnswer({
      ...{ method, path: whole(path), status: answer.status, text: answer.text },
      content_type: answer.headers['content-type'],
    });
    return answer;
  };
  const exchange = <T>(method: string, path: string, headers: Record<string, string>, body?: string) =>
    new Promise<Answer<T>>((resolve, reject) => {
      const call = httpRequest({
        ...target(address()),
        method,
        path: whole(path),
        agent: false,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        signal: AbortSignal.timeout(most_ms),
      });
      call.on('error', reject);
      call.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: parsed(text) as T,
          });
        });
      });
      call.end(body);
    });
  return {
    get: (path, headers = {}) => send('GET', path, headers),
    post: (path, body, headers = {}) =>
      send('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body)),
  };
}

function whole(path: string): string {
  return path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
}

function target(address: string) {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) };
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
