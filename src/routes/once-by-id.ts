import { type Clock, sleep } from '../base/clock.ts';
import { createDeferred } from '../base/deferred.ts';
import { sha256Of } from '../base/digest.ts';
import { CodedError, isCoded } from '../base/errors.ts';
import { runToItsEnd } from '../base/request-scope.ts';
import { SameRequests } from '../base/same-requests.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../contract/http/idempotency.ts';
import { messageIdSchema } from '../contract/http/messages.ts';
import type { Reply } from '../http/reply.ts';
import type { RequestView } from '../http/request-view.ts';
import type { Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** How long a repeat waits for the answer of the first request, in milliseconds. */
const REPEAT_MS = 30_000;

/** The part of an answer that is kept; every write answers with JSON or text. */
type KeptAnswer = Pick<Reply, 'status' | 'headers'> &
  ({ json: unknown } | { text: string; content_type: string });

/**
 * What came of the writes to which their callers gave an id: one of an id is carried out once, also over a restart of the
 * daemon, and a repeat has the first answer. A refusal is not kept: what was refused may be tried again. The work of a
 * write goes on to its end although its caller is told that there is no answer yet.
 */
export class OnceById {
  readonly #open = new SameRequests<Reply>();
  readonly #poller: Pick<Callers['poller'], 'call'>;
  readonly #clock: Clock;

  constructor(poller: Pick<Callers['poller'], 'call'>, clock: Clock) {
    this.#poller = poller;
    this.#clock = clock;
  }

  /** The row, carrying out once what has an id. */
  row(row: Row): Row {
    if (row.method === 'GET' || row.body === 'bytes') return row;
    return { ...row, handler: (request) => this.#handle(row, request) };
  }

  #handle(row: Row, request: RequestView): Reply | Promise<Reply> {
    const { message_id, dry_run } = (request.body ?? {}) as { message_id?: string; dry_run?: boolean };
    const id = keyOf(request) ?? (row.repeated === undefined ? undefined : message_id);
    if (id === undefined || dry_run === true) return row.handler(request);
    return this.#once(row, id, request);
  }

  async #once(row: Row, id: string, request: RequestView): Promise<Reply> {
    const key = `${row.path} ${id}`;
    const content = sha256Of(JSON.stringify(request.body));
    const late = createDeferred<never>();
    late.promise.catch(() => undefined);
    const { work, is_first, ...open } = this.#open.join(key, content, () =>
      runToItsEnd(
        (error) => late.reject(goesOn(error.message)),
        () => this.#carryOut(row, { key, content, request }),
      ),
    );
    if (open.content !== content) throw usedOtherwise();
    if (is_first) return Promise.race([work, late.promise]);
    const patience = sleep(this.#clock, REPEAT_MS).then(() => {
      throw goesOn(`The same request has been at work for more than ${REPEAT_MS / 1_000} s`);
    });
    return Promise.race([work, patience]);
  }

  async #carryOut(
    row: Row,
    { key, content, request }: { key: string; content: string; request: RequestView },
  ): Promise<Reply> {
    const kept = await this.#begin(key, content);
    if (kept !== null && kept.content !== content) throw usedOtherwise();
    const first = kept === null ? null : replyOf(kept.answer);
    try {
      const again = row.repeated ?? firstOrNotKnown;
      const reply = await (kept === null ? row.handler(request) : again(request, first));
      const is_done = reply.status < 300;
      if (is_done || first === null) await this.#end(key, is_done ? keptOf(reply) : null);
      return reply;
    } catch (error) {
      // A thread that died, or anything unexpected, tells nothing of what was done.
      const is_known =
        isCoded(error) && !['component_unavailable', 'internal', 'outcome_unknown'].includes(error.code);
      if (is_known && first === null) await this.#end(key, null);
      throw error;
    }
  }

  async #begin(id: string, content: string) {
    try {
      return (await this.#poller.call('begin_write', { id, content })).kept;
    } catch (error) {
      // A full disk keeps nobody from ending a worker, nor does a poller that is away keep what needs none.
      if (isCoded(error, 'storage_unavailable') || isCoded(error, 'component_unavailable')) return null;
      throw error;
    }
  }

  /** Of what cannot be kept, a repeat is told that its outcome is not known. */
  async #end(id: string, answer: KeptAnswer | null): Promise<void> {
    await this.#poller.call('end_write', { id, answer }).catch(() => undefined);
  }
}

/** The id that the caller gave the write in the header; throws `invalid_request` for one that is none. */
export function keyOf({ headers }: Pick<RequestView, 'headers'>): string | undefined {
  const key = headers[IDEMPOTENCY_KEY_HEADER];
  if (key === undefined) return undefined;
  const id = messageIdSchema.safeParse(key);
  if (id.success) return id.data;
  throw new CodedError('invalid_request', `The header Idempotency-Key ${id.error.issues[0]?.message}.`);
}

function firstOrNotKnown(_: RequestView, first: Reply | null): Reply {
  if (first !== null) return first;
  throw new CodedError(
    'outcome_unknown',
    'The daemon ended while it carried this request out: whether it was done is not known, and it is not done again. See: svc status',
  );
}

function usedOtherwise(): CodedError {
  return new CodedError(
    'message_id_conflict',
    'That id was used by another request; give each request an id of its own.',
  );
}

function goesOn(why: string): CodedError {
  const said = why.replace(/; try again$|\.$/, '');
  return new CodedError(
    'deadline_exceeded',
    `${said}; it goes on, and the same request under the same id has its outcome.`,
    { details: { goes_on: true } },
  );
}

function keptOf(reply: Reply): KeptAnswer | null {
  const { status, headers } = reply;
  const head = { status, ...(headers !== undefined && { headers }) };
  if ('json' in reply) return { ...head, json: reply.json };
  if (!('bytes' in reply)) return null;
  return { ...head, text: new TextDecoder().decode(reply.bytes), content_type: reply.content_type };
}

function replyOf(answer: unknown): Reply | null {
  const kept = answer as KeptAnswer | null;
  if (kept === null || 'json' in kept) return kept;
  const { text, ...head } = kept;
  return { ...head, bytes: new TextEncoder().encode(text) };
}
