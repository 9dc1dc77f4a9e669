import type { z } from 'zod';
import { CodedError, messageOf } from '../base/errors.ts';
import { jsonOf } from '../base/json-text.ts';
import { refusalOf } from '../contract/http/errors.ts';
import { ANSWERED_BY_HEADER, HOPS_HEADER } from '../contract/http/forwarding.ts';
import { placeOf, type RemoteAddress } from '../contract/remote-address.ts';
import { AnswerTooLarge, requestBytes } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';
import { parsedInPieces } from './parsed-in-pieces.ts';

/** Timeout of a complete answer, in milliseconds. No caller waits so long, but the next composite uses it. */
const WHOLE_MS = 30_000;
/** Most bytes of one answer. */
const MOST_READ_BYTES = 32 * 1024 * 1024;

/** A daemon that can be asked. */
export type Place = { name: string; address: RemoteAddress };
/** `bytes` is null where what `etag` names has not changed; `etag` is of the answer. */
export type ReadAnswer = { bytes: Uint8Array | null; etag: string | null };

/** Limits of one complete answer. */
type ReadLimits = { deadline_ms: number; most_bytes: number };

/**
 * Reads an endpoint of a remote, as bytes. `host` is this host, which the remote is told. Rejects with a `CodedError` that
 * names the remote: its own refusal, `remote_unreachable` where it gave no answer, `answer_unreadable` where it gave one that
 * cannot be read, `misdirected` where another host answered.
 */
export async function readRemote(
  host: string,
  to: Place,
  path: string,
  etag: string | null,
  limits: ReadLimits = { deadline_ms: WHOLE_MS, most_bytes: MOST_READ_BYTES },
): Promise<ReadAnswer> {
  const ask = async () =>
    requestBytes({
      to: await serverAt(to.address),
      method: 'GET',
      path: `/api/v1${path}`,
      headers: { [HOPS_HEADER]: host, ...(etag !== null && { 'if-none-match': etag }) },
      ...limits,
    });
  const { status, headers, body } = await ask().catch((error: unknown) => {
    throw unanswered(to, error);
  });
  const by = headers[ANSWERED_BY_HEADER];
  // It refuses who may not ask at all before it says who it is.
  if (typeof by !== 'string' && status === 403) throw refused(to, status, body);
  if (typeof by !== 'string')
    throw unreachable(
      to,
      `what answers there (with ${status}) is not a daemon that accepts requests of other hosts`,
    );
  if (by !== to.name) throw misdirected(to, by);
  if (status === 304 && etag !== null) return { bytes: null, etag };
  if (status !== 200) throw refused(to, status, body);
  if (headers['content-encoding'] !== undefined)
    throw unreadable(to, 'its answer is compressed, which was not requested');
  return { bytes: body, etag: tagOf(headers.etag) };
}

/** Reads a small endpoint of a remote, whose answer is a value of that schema; rejects as `readRemote` does. */
export async function readValue<S extends z.ZodObject>(
  host: string,
  to: Place,
  path: string,
  { schema, ...limits }: ReadLimits & { schema: S },
): Promise<z.output<S>> {
  const { bytes } = await readRemote(host, to, path, null, limits);
  const value = bytes === null ? undefined : await parsedInPieces(schema, bytes);
  if (value !== undefined) return value;
  throw unreadable(to, `its answer to GET ${path.split('?')[0]} does not have the expected form`);
}

/** The code and the message of another host's refusal, which are passed on. */
export function refused(to: Place, status: number, body: Buffer): CodedError {
  return refusalIn(to, status, jsonOf(body.toString('utf8')));
}

/** The same for a body that is parsed already. */
export function refusalIn(to: Place, status: number, body: unknown): CodedError {
  const told = refusalOf(body);
  if (told === null) return unreachable(to, `its answer (${status}) is not an answer of this API`);
  return new CodedError(told.code, `${to.name}: ${told.sentence}`, { details: { origin: to.name } });
}

export function misdirected(to: Place, by: string): CodedError {
  const other = by.slice(0, 100).toWellFormed();
  return new CodedError(
    'misdirected',
    `${placeOf(to.address)} is the address of "${other}"; correct the entry of ${to.name} in remotes.json.`,
    { details: { origin: to.name, host: other } },
  );
}

/** The daemon there is of another build than the one that the entry pins. */
export function buildChanged(to: Place, pinned: string, told: string): CodedError {
  const other = told.slice(0, 100).toWellFormed();
  return new CodedError(
    'build_changed',
    `The daemon of ${to.name} is of build "${other}", and its entry in remotes.json pins "${pinned}". If that is right, run: svc remotes pin ${to.name}`,
    { details: { origin: to.name, build: other } },
  );
}

export function unreachable(to: Place, why: string): CodedError {
  return new CodedError(
    'remote_unreachable',
    `${to.name} does not answer at ${placeOf(to.address)}: ${why}. Check that its daemon and its tunnel are running.`,
    { details: { origin: to.name } },
  );
}

/** It answers, so what else it is asked for reaches it. */
export function unreadable(to: Place, why: string): CodedError {
  return new CodedError(
    'answer_unreadable',
    `${to.name} answers at ${placeOf(to.address)}, but what it answered cannot be read: ${why}.`,
    { details: { origin: to.name } },
  );
}

/** Why a question brought no whole answer. */
export function unanswered(to: Place, error: unknown): CodedError {
  return error instanceof AnswerTooLarge ? unreadable(to, error.message) : unreachable(to, messageOf(error));
}

/** An entity tag that may be sent back. */
export function tagOf(etag: string | undefined): string | null {
  return etag !== undefined && etag.length <= 1_000 && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(etag)
    ? etag
    : null;
}
