import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { CodedError, systemCode } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { startCommand } from '../../config/own-command.ts';
import type { Settings } from '../../config/settings.ts';
import { ASKED_BY_HEADER } from '../../contract/asked-by.ts';
import { errorBodySchema } from '../../contract/http/errors.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../contract/http/idempotency.ts';
import { REFUSAL_CODE_HEADER } from '../../contract/http/lifecycle.ts';
import type { DaemonFile } from '../../contract/operator-files.ts';
import {
  AnswerTooLate,
  type HttpAnswer,
  type HttpRequest,
  requestBytes,
  requestJson,
} from '../../platform/http-client.ts';
import { findDaemon, requireSeen } from './daemon-file.ts';

/** Where a daemon listens, as options of `node:http`. */
export type DaemonAddress = { socketPath: string } | { host: string; port: number };

/**
 * An answer of any status; `body` is parsed JSON or, for a text route, the text; `refusal` is then the code of its
 * error.
 */
export type DaemonAnswer = { status: number; body: unknown; refusal?: string };

export type DaemonClient = {
  readonly daemon: DaemonFile;
  /** `path` is below `/api/v1`. Throws `daemon_unreachable` after the timeout. */
  request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<DaemonAnswer>;
  /** The validated body of a 2xx answer; throws the `CodedError` in any other answer. */
  get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>>;
  /** With `signal`, its caller stops waiting; the daemon goes on with it. */
  post<S extends z.ZodType>(
    path: string,
    body: unknown,
    schema: S,
    signal?: AbortSignal,
  ): Promise<z.output<S>>;
};

/** Longer than a daemon waits for another host, so that it says itself that this host does not answer. */
const FORWARDED_MS = 125_000;
/** Timeouts. A read is fast; a launch may have to wait for a harness, and a message may be for another host. */
const DEADLINE_MS = { GET: 10_000, POST: FORWARDED_MS } as const;
/** Before a write is asked for again, and the least time that a repeat has, in milliseconds. */
const AGAIN_MS = 100;
const LEAST_MS = 1_000;
/** How long an answer may take before the daemon is asked whether it answers anything, and between two such questions. */
const DOUBT_MS = 1_000;
const VERSION_PATH = '/api/v1/version';
/** More than the largest listing; a larger answer is not from our daemon. */
const MOST_BYTES = 256 * 1024 * 1024;
const mendOf = (settings: Settings) =>
  `start ${settings.demo ? 'the demo' : 'it'} with: ${startCommand(settings)}`;

/** Connects to the daemon of this data folder; throws `daemon_unreachable` if none runs. */
export async function connectDaemon(settings: Settings): Promise<DaemonClient> {
  const lookup = await findDaemon(settings);
  requireSeen(lookup);
  if (lookup.kind === 'unreadable')
    throw new CodedError(
      'daemon_unreachable',
      `${lookup.path} does not name a daemon: ${lookup.detail}; ${mendOf(settings)}`,
    );
  if (lookup.kind !== 'running')
    throw new CodedError('daemon_unreachable', `the daemon does not run; ${mendOf(settings)}`);
  return createDaemonClient(lookup.daemon);
}

/** A client for a daemon that has been found, or for another `host` that the daemon passes its requests on to. */
export function createDaemonClient(daemon: DaemonFile, host?: string): DaemonClient {
  // The socket is in the data folder and was deleted with it.
  const reachable = daemon.listen.filter(
    (entry) => !entry.startsWith('unix:') || existsSync(entry.slice('unix:'.length)),
  );
  const address = chooseAddress(reachable.length === 0 ? daemon.listen : reachable);
  if (address === null)
    throw new CodedError(
      'daemon_unreachable',
      `the daemon (pid ${daemon.pid}) lists no address that it listens on; see: svc daemon logs`,
    );
  const ask = (method: 'GET' | 'POST', path: string, body?: unknown, signal?: AbortSignal) =>
    exchange({ daemon, host, to: address, signal }, method, path, body);
  const request: DaemonClient['request'] = (method, path, body) => ask(method, path, body);
  const checked = async <S extends z.ZodType>(answer: Promise<DaemonAnswer>, path: string, schema: S) =>
    checkAnswer(await answer, { path, host }, schema);
  return {
    daemon,
    request,
    get: (path, schema) => checked(request('GET', path), path, schema),
    post: (path, body, schema, signal) => checked(ask('POST', path, body, signal), path, schema),
  };
}

/** The best address in `daemon.json`: the socket file if there is one, since only our user can open it. */
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

function checkAnswer<S extends z.ZodType>(
  answer: DaemonAnswer,
  { path, host }: { path: string; host: string | undefined },
  schema: S,
): z.output<S> {
  if (answer.status < 200 || answer.status > 299) throw errorOf(answer, path);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const message =
    host === undefined
      ? `the daemon’s answer to ${path} has an unknown format; after an upgrade run: svc daemon restart`
      : `the answer of ${host} to ${path} has an unknown format; bring the older of both hosts up to date, which this tells: svc remotes check ${host}`;
  throw new CodedError('internal', message, { cause: parsed.error });
}

/** The error in an answer that is not 2xx. */
export function errorOf(answer: DaemonAnswer, path: string): CodedError {
  const { body, refusal = 'invalid_request', status } = answer;
  // A text route refuses in the words of the command (WPL-3).
  if (typeof body === 'string' && (status === 400 || status === 422))
    return new CodedError(refusal, body.trim().replace(/^svc exited \d+: /, ''));
  const parsed = errorBodySchema.safeParse(body);
  if (!parsed.success) return new CodedError('internal', `the daemon answered ${status} to ${path}`);
  const { error, message, ...details } = parsed.data;
  // Its message names an endpoint, which is no help to who typed a command.
  if (error === 'booting')
    return new CodedError(error, 'the daemon is still starting; try again in a moment', { details });
  if (details.unknown_route === true)
    return new CodedError(error, unknownRoute(path, details.origin), { details });
  return new CodedError(error, message ?? `the daemon answered ${error}`, { details });
}

function unknownRoute(path: string, origin: unknown): string {
  const [daemon, mend] =
    typeof origin === 'string'
      ? [`the daemon of ${origin}`, 'bring it up to date there']
      : ['the daemon', 'after an upgrade run: svc daemon restart'];
  return `${daemon} is of another build than svc, and does not know ${path.replace(/\?.*/, '')}; ${mend}`;
}

async function exchange(
  {
    daemon,
    host,
    to,
    signal,
  }: { daemon: DaemonFile; host: string | undefined; to: DaemonAddress; signal: AbortSignal | undefined },
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
): Promise<DaemonAnswer> {
  // An agent's run script gives its session this variable.
  const asked_by = process.env.SVC_RUN_DIR ? 'agent' : 'cli';
  const is_write = method === 'POST' && (body as { dry_run?: boolean } | undefined)?.dry_run !== true;
  const headers = {
    [ASKED_BY_HEADER]: asked_by,
    // A message has an id of its own.
    ...(is_write && !isMessage(body) && { [IDEMPOTENCY_KEY_HEADER]: randomUUID() }),
  };
  const request = {
    to,
    method,
    path: `/api/v1${path}`,
    body,
    headers,
    most_bytes: MOST_BYTES,
    ...(signal && { signal }),
  };
  const deadline_ms = host === undefined ? DEADLINE_MS[method] : FORWARDED_MS;
  const asked = host === undefined ? '' : ` what it is asked of ${host}`;
  const until = systemClock.monotonic() + deadline_ms;
  for (let left_ms: number = deadline_ms; ; ) {
    const answer = await askWhileAlive({ ...request, deadline_ms: left_ms }).catch(async (error: Error) => {
      const doubt = is_write && !foundNobody(error) ? `; ${NOT_KNOWN}` : '';
      const is_slow = host === undefined && error instanceof AnswerTooLate && (await saysVersion(to));
      const what = is_slow ? 'answers, but not this yet' : `does not answer${asked}`;
      throw new CodedError(
        'daemon_unreachable',
        `the daemon (pid ${daemon.pid}) ${what}: ${error.message}${doubt}; see: svc daemon ${is_slow ? 'status' : 'logs'}`,
        { cause: error },
      );
    });
    left_ms = Math.ceil(until - systemClock.monotonic());
    const late = is_write ? lateOf(answer.body) : null;
    // The same request under its id has the outcome once there is one.
    if (late?.goes_on === true && left_ms > LEAST_MS) {
      await pause(AGAIN_MS);
      continue;
    }
    if (late !== null && !isMessage(body)) throw notKnown(late, body);
    const refusal = answer.headers[REFUSAL_CODE_HEADER.toLowerCase()];
    return { status: answer.status, body: answer.body, ...(typeof refusal === 'string' && { refusal }) };
  }
}

const NOT_KNOWN = 'whether it was done is not known; look with svc status before you do it again';

/** Whether a daemon that has not answered a request answers another one at once. */
async function saysVersion(to: HttpRequest['to']): Promise<boolean> {
  const question = {
    to,
    method: 'GET',
    path: VERSION_PATH,
    deadline_ms: DOUBT_MS,
    most_bytes: MOST_BYTES,
  } as const;
  return requestBytes(question).then(
    () => true,
    () => false,
  );
}

/** Nothing of the request was sent. */
function foundNobody({ cause }: Error): boolean {
  return ['ECONNREFUSED', 'ENOENT'].includes(systemCode(cause) ?? '');
}

/** A message is given once under its id, however often it is sent. */
function isMessage(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'message_id' in body;
}

/** A write whose time ran out inside the daemon: it may still be done, and under an id it `goes_on`. */
function lateOf(body: unknown): { said: string; goes_on: boolean } | null {
  const parsed = errorBodySchema.safeParse(body);
  if (!parsed.success || parsed.data.error !== 'deadline_exceeded') return null;
  const { message = 'the daemon did not answer in time', goes_on } = parsed.data;
  return { said: message.replace(/; (?:try again|it goes on, .*)$|\.$/, ''), goes_on: goes_on === true };
}

function notKnown({ said, goes_on }: { said: string; goes_on: boolean }, body: unknown): CodedError {
  const { fiber_id, fiber = fiber_id } = (body ?? {}) as { fiber_id?: unknown; fiber?: unknown };
  const look = typeof fiber === 'string' ? `svc status ${shellWord(fiber)}` : 'svc status';
  return new CodedError(
    'outcome_unknown',
    goes_on
      ? `${said}; whether it was done is not known yet, and it goes on; look with: ${look}`
      : `${said}; ${NOT_KNOWN}`,
  );
}

/** Waits for an answer that may take minutes only for as long as the daemon answers anything. */
async function askWhileAlive(request: HttpRequest): Promise<HttpAnswer> {
  if (request.deadline_ms <= DEADLINE_MS.GET) return requestJson(request);
  const over = new AbortController();
  const signal = request.signal === undefined ? over.signal : AbortSignal.any([over.signal, request.signal]);
  try {
    return await Promise.race([requestJson({ ...request, signal }), untilSilent(request.to, signal)]);
  } finally {
    over.abort();
  }
}

/**
 * Rejects once the daemon does not even say its version. One that is being stopped refuses the question, and still answers
 * what it has begun.
 */
async function untilSilent(to: HttpRequest['to'], signal: AbortSignal): Promise<never> {
  const question = { to, method: 'GET', path: VERSION_PATH } as const;
  const limits = { deadline_ms: DEADLINE_MS.GET, most_bytes: MOST_BYTES };
  for (;;) {
    await pause(DOUBT_MS, undefined, { signal });
    await requestBytes({ ...question, ...limits, signal }).catch((error: Error) => {
      if (error instanceof AnswerTooLate) throw error;
    });
  }
}
