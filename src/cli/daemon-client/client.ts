import { existsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { z } from 'zod';
import { CodedError, messageOf } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import { errorBodySchema } from '../../contract/http/errors.ts';
import { REFUSAL_CODE_HEADER } from '../../contract/http/lifecycle.ts';
import type { DaemonFile } from '../../contract/operator-files.ts';
import { findDaemon } from './daemon-file.ts';

/** Where a daemon listens, in the words of `node:http`. */
export type DaemonAddress = { socketPath: string } | { host: string; port: number };

/** An answer as it came; `body` is parsed JSON, or the text of a text route, whose `refusal` is the code of its error. */
export type DaemonAnswer = { status: number; body: unknown; refusal?: string };

export type DaemonClient = {
  readonly daemon: DaemonFile;
  /** `path` is below `/api/v1`. Throws `daemon_unreachable` where nobody answers in time. */
  request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<DaemonAnswer>;
  /** The checked body of a 2xx answer; any other answer becomes its own `CodedError`. */
  get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>>;
  post<S extends z.ZodType>(path: string, body: unknown, schema: S): Promise<z.output<S>>;
};

/** A read answers at once; a launch may have to wait for a harness. */
const DEADLINE_MS = { GET: 10_000, POST: 120_000 } as const;
/** More than the largest listing; an answer above it is not ours. */
const MOST_BYTES = 256 * 1024 * 1024;
const mendOf = (settings: Settings) =>
  settings.demo ? 'start the demo with: svc demo' : 'start it with: svc daemon start';

/** Connects to the daemon of this data folder; throws `daemon_unreachable` where none runs. */
export async function connectDaemon(settings: Settings): Promise<DaemonClient> {
  const lookup = await findDaemon(settings);
  if (lookup.kind === 'unreadable')
    throw new CodedError(
      'daemon_unreachable',
      `${lookup.path} does not name a daemon: ${lookup.detail}; ${mendOf(settings)}`,
    );
  if (lookup.kind !== 'running')
    throw new CodedError('daemon_unreachable', `the daemon does not run; ${mendOf(settings)}`);
  return createDaemonClient(lookup.daemon);
}

/** A client for a daemon that was found already. */
export function createDaemonClient(daemon: DaemonFile): DaemonClient {
  // The socket lies in the data folder and goes with it.
  const reachable = daemon.listen.filter(
    (entry) => !entry.startsWith('unix:') || existsSync(entry.slice('unix:'.length)),
  );
  const address = chooseAddress(reachable.length === 0 ? daemon.listen : reachable);
  if (address === null)
    throw new CodedError(
      'daemon_unreachable',
      `the daemon (pid ${daemon.pid}) names no address it listens on; see: svc daemon logs`,
    );
  const request: DaemonClient['request'] = (method, path, body) =>
    exchange(daemon, address, method, path, body);
  const checked = async <S extends z.ZodType>(answer: Promise<DaemonAnswer>, path: string, schema: S) =>
    checkAnswer(await answer, path, schema);
  return {
    daemon,
    request,
    get: (path, schema) => checked(request('GET', path), path, schema),
    post: (path, body, schema) => checked(request('POST', path, body), path, schema),
  };
}

/** The address to use of those in `daemon.json`: the socket file where there is one, since only we can open it. */
export function chooseAddress(listen: readonly string[]): DaemonAddress | null {
  const addresses = listen.map(parseAddress).filter((address) => address !== null);
  return addresses.find((address) => 'socketPath' in address) ?? addresses[0] ?? null;
}

/** Reads `host:port`, `[::1]:port`, `http://host:port` or `unix:/path`; null for anything else. */
export function parseAddress(text: string): DaemonAddress | null {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length);
    return socketPath.startsWith('/') ? { socketPath } : null;
  }
  const match = /^(?:http:\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})\/?$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function checkAnswer<S extends z.ZodType>(answer: DaemonAnswer, path: string, schema: S): z.output<S> {
  if (answer.status < 200 || answer.status > 299) throw errorOf(answer, path);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new CodedError(
    'internal',
    `the daemon’s answer to ${path} is not one this svc understands; after an upgrade run: svc daemon restart`,
    { cause: parsed.error },
  );
}

/** The error that an answer outside 2xx carries. */
export function errorOf(answer: DaemonAnswer, path: string): CodedError {
  const parsed = errorBodySchema.safeParse(answer.body);
  if (!parsed.success) return new CodedError('internal', `the daemon answered ${answer.status} to ${path}`);
  const { error, message, ...details } = parsed.data;
  if (error === 'booting' && message === undefined)
    return new CodedError(error, 'the daemon is still starting; try again in a moment', { details });
  return new CodedError(error, message ?? `the daemon answered ${error}`, { details });
}

function exchange(
  daemon: DaemonFile,
  address: DaemonAddress,
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
): Promise<DaemonAnswer> {
  const unreachable = (why: string, cause?: unknown) =>
    new CodedError(
      'daemon_unreachable',
      `the daemon (pid ${daemon.pid}) does not answer: ${why}; see: svc daemon logs`,
      { cause },
    );
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const call = httpRequest({
      ...address,
      method,
      path: `/api/v1${path}`,
      // A connection of its own, closed with the answer: a kept one would hold the command open.
      agent: false,
      headers: {
        accept: 'application/json',
        ...('socketPath' in address ? { host: 'localhost' } : {}),
        ...(bytes === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': bytes.length }),
      },
      signal: AbortSignal.timeout(DEADLINE_MS[method]),
    });
    call.on('error', (error) => {
      const late = error.name === 'AbortError' || error.name === 'TimeoutError';
      reject(
        unreachable(late ? `no answer within ${DEADLINE_MS[method] / 1000} s` : messageOf(error), error),
      );
    });
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST_BYTES) call.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', (error) => reject(unreachable(messageOf(error), error)));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        try {
          const status = response.statusCode ?? 0;
          const code = response.headers[REFUSAL_CODE_HEADER.toLowerCase()];
          const refusal = typeof code === 'string' ? { refusal: code } : {};
          const isText = response.headers['content-type']?.startsWith('text/plain') === true;
          const parsed: unknown = isText ? text : text === '' ? null : JSON.parse(text);
          resolve({ status, body: parsed, ...refusal });
        } catch (error) {
          reject(unreachable('its answer is not JSON', error));
        }
      });
    });
    call.end(bytes);
  });
}
