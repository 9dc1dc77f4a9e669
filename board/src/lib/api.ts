import { newId } from './ids.ts';
import { noticeSkew } from './skew.ts';

/** How the daemon answered, or that it did not. */
export type Answer<T> =
  /** `etag`: its entity tag, if it has one. With status 304 there is no value: it is that of the tag that was named. */
  | { ok: true; status: number; value: T; etag: string | null }
  /** `code` is that of the contract, or `no_answer` when it is not known whether the daemon heard; `body` as it came. */
  | { ok: false; status: number; code: string; message: string; body: unknown };

export type Asking = {
  body?: unknown;
  /** That of an answer which the caller still has: unchanged since, it is answered with status 304. */
  etag?: string | null;
  signal?: AbortSignal;
  timeout_ms?: number;
  /** Of a write: what the person saw when asking for it. The same write of the same, after one without an answer, is that one. */
  seen?: string;
};

/** A daemon that takes longer is gone for the reader. */
const ANSWER_MS = 15_000;

export function get<T>(path: string, asking: Omit<Asking, 'body'> = {}): Promise<Answer<T>> {
  return ask<T>('GET', path, asking);
}

/** The ids of writes that have no answer, by what was asked. */
const unanswered = new Map<string, string>();

/** Each write has an id, under which the daemon does it once. */
export async function post<T>(
  path: string,
  body: unknown,
  asking: Omit<Asking, 'body'> = {},
): Promise<Answer<T>> {
  const { seen } = asking;
  const write = JSON.stringify([path, seen, body]);
  const id = (body as { message_id?: string }).message_id ?? unanswered.get(write) ?? newId();
  unanswered.delete(write);
  const answer = await ask<T>('POST', path, { ...asking, body }, id);
  // Of what an ended daemon had begun, the id is used up.
  if (seen !== undefined && isUnsure(answer) && !answer.ok && answer.code !== 'outcome_unknown')
    unanswered.set(write, id);
  return answer;
}

/** Whether a write may have been done, or may still be, although no answer says so. */
export function isUnsure(answer: Answer<unknown>): boolean {
  return !answer.ok && answer.code !== 'booting' && (answer.status === 0 || answer.status >= 500);
}

/** Asks a route below `/api/v1`. Never throws; an answer that is not JSON is its text. */
async function ask<T>(method: string, path: string, asking: Asking, id?: string): Promise<Answer<T>> {
  const { body, etag = null, signal, timeout_ms = ANSWER_MS } = asking;
  const late = AbortSignal.timeout(timeout_ms);
  try {
    const response = await fetch(`/api/v1${path}`, {
      method,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      headers: {
        // Without it the browser may ask with a tag of its own, and hand the whole answer over again.
        ...(etag === null ? {} : { 'if-none-match': etag }),
        ...(id === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': id }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const value = isJson(response) && text !== '' ? (JSON.parse(text) as unknown) : text;
    const { status } = response;
    // It was not done in time, and is still being done.
    if (tells(value, 'goes_on')) throw value;
    if (response.ok || (status === 304 && etag !== null))
      return { ok: true, status, value: value as T, etag: response.headers.get('etag') };
    // Everything that the board asks is in the contract, so only another version of the daemon lacks it.
    if (tells(value, 'unknown_route') && !response.headers.has(ANOTHER_HOST)) noticeSkew('older');
    return { ok: false, status, ...refusalOf(response, value), body: value };
  } catch {
    const message = method === 'GET' ? NO_ANSWER : `${NO_ANSWER} It is not known whether it did this.`;
    return { ok: false, status: 0, code: 'no_answer', message, body: null };
  }
}

const NO_ANSWER = 'The daemon did not answer.';
/** Names the code of a refusal whose body is a text; as in the contract. */
const CODE_HEADER = 'Svc-Error';
/** Names the other host that answered; as in the contract. */
const ANOTHER_HOST = 'Svc-Host';

function refusalOf(response: Response, value: unknown): { code: string; message: string } {
  const fallback = `The daemon answered with status ${response.status}.`;
  if (typeof value === 'string')
    return { code: response.headers.get(CODE_HEADER) ?? 'refused', message: value.trim() || fallback };
  const { error, reason, message } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const code = [error, reason].find((one) => typeof one === 'string');
  return {
    code: typeof code === 'string' ? code : 'refused',
    message: typeof message === 'string' ? message : typeof code === 'string' ? code : fallback,
  };
}

function tells(value: unknown, word: string): boolean {
  return typeof value === 'object' && value !== null && word in value;
}

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.includes('json') === true;
}
