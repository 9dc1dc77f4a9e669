import type { Logger } from '../base/logger.ts';
import { ANSWERED_BY_HEADER } from '../contract/http/forwarding.ts';
import { Packer } from './content-coding.ts';
import { refusal, replyOfError } from './error-reply.ts';
import { byteLength } from './exchange.ts';
import type { OpenStreams } from './open-streams.ts';
import type { WholeBody } from './pieces.ts';
import { keptReply, type PreparedReply, packedReply, prepareReply } from './prepared-reply.ts';
import type { Reply } from './reply.ts';
import type { Call } from './request-call.ts';

export type AnsweringOptions = {
  /** The id of this host. */
  host: string;
  streams: Pick<OpenStreams, 'hasRoom'>;
  /** Told of every request that was given an answer. */
  observe?: (request: AnsweredRequest) => void;
  logger: Logger;
};

/** The result of one request, for metrics. `path` is that of its row; null if no row matched. */
export type AnsweredRequest = {
  method: string;
  path: string | null;
  status: number;
  /** From the request to its answer, in milliseconds. */
  ms: number;
  /** Bytes of the answer's body. */
  bytes: number;
};

const NO_ROW = {};

/** Sends each request its answer, in its content coding, and closes connections that must not continue. */
export class Answering {
  /** The server stops: every answer from now on ends its connection. */
  closing = false;
  readonly #options: AnsweringOptions;
  readonly #packer = new Packer();

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /**
   * Goes on in the next turn. What follows in the same segment may be a smuggled request, or one that comes after
   * the last of its connection: the native server closes a connection that brings another request while one is
   * unanswered, but serves it after an answer.
   */
  afterSegment(call: Call, goOn: () => void): void {
    if (call.waited) {
      goOn();
      return;
    }
    call.waited = true;
    setImmediate(() => {
      if (!call.exchange.open) return;
      try {
        goOn();
      } catch (error) {
        this.fail(call, error);
      }
    });
  }

  /** No request that comes after this one on its connection is served. */
  isLast({ head }: Call): boolean {
    const { connection } = head.headers;
    return this.closing || (connection !== undefined && /(?:^|[, \t])close(?:[, \t]|$)/i.test(connection));
  }

  /** Answers a call whose handler has returned; a reply that cannot be sent becomes an error. */
  answerLater(call: Call, reply: Reply, close = false): void {
    try {
      this.answer(call, reply, close);
    } catch (error) {
      this.fail(call, error);
    }
  }

  /** Answers with an error. */
  fail(call: Call, error: unknown, close = false): void {
    call.body_share?.release();
    try {
      this.answer(call, replyOfError(error, this.#options.logger, call.exchange.id), close);
    } catch (unanswerable) {
      this.#options.logger.error({ err: unanswerable, request_id: call.exchange.id }, 'request dropped');
      call.exchange.drop();
    }
  }

  /** Answers a call; `close` ends its connection. Throws what makes the reply impossible. */
  answer(call: Call, given: Reply, close = false): void {
    const { exchange, head, row } = call;
    if (!exchange.open) return;
    const reply = call.hops.length === 0 ? given : answeredBy(this.#options.host, given);
    const reads = head.method === 'GET' || head.method === 'HEAD';
    const { id } = exchange;
    if ('stream' in reply && (this.closing || !this.#options.streams.hasRoom()))
      throw refusal('too_many_connections', 'Too many open-ended streams are open; close one.');
    // A range is defined for a GET alone (RFC 9110, 14.2).
    const headers = head.method === 'HEAD' ? { ...head.headers, range: undefined } : head.headers;
    const prepared = prepareReply(reply, { id, reads, headers, row: row ?? NO_ROW });
    const { coding } = prepared;
    if (coding === null) {
      this.#send(call, prepared, close);
      return;
    }
    const body = prepared.body as WholeBody;
    const { etag } = reply;
    const key = typeof etag === 'string' ? `${head.path}?${head.query} ${etag}` : null;
    this.#packer.pack(body, coding, key).then(
      (packed) => this.#send(call, packedReply(prepared, packed, coding), close),
      (error: unknown) => this.fail(call, error, close),
    );
  }

  #send(call: Call, prepared: PreparedReply, close: boolean): void {
    if (!call.exchange.open) return;
    if (!close && !this.isLast(call)) {
      this.#write(call, prepared, false);
      return;
    }
    const kept = call.waited ? prepared : keptReply(prepared);
    this.afterSegment(call, () => this.#write(call, kept, true));
  }

  #write(call: Call, prepared: PreparedReply, close: boolean): void {
    const { exchange, head } = call;
    const head_only = head.method === 'HEAD';
    exchange.answer(prepared, { head: head_only, close });
    const { status, body } = prepared;
    this.tell(call, status, head_only ? null : body);
  }

  /** Reports an answer that was sent. */
  tell(call: Call, status: number, body: PreparedReply['body']): void {
    const { exchange, head } = call;
    const { logger, observe } = this.#options;
    const debug = logger.isLevelEnabled('debug');
    if (observe === undefined && !debug) return;
    const { method, path } = head;
    const to = call.forward === null ? {} : { forwarded_to: call.forward.host };
    const ms = performance.now() - call.started_at;
    const bytes = body === null ? 0 : (byteLength(body) ?? 0);
    observe?.({ method, path: call.row?.path ?? null, status, ms, bytes });
    if (debug) logger.debug({ request_id: exchange.id, method, path, status, ms, ...to }, 'request');
  }
}

/** An answer to a daemon names its host, so that another program at the same address is not mistaken for a daemon. */
function answeredBy(host: string, reply: Reply): Reply {
  if ('relayed' in reply || reply.headers?.[ANSWERED_BY_HEADER] !== undefined) return reply;
  return { ...reply, headers: { ...reply.headers, [ANSWERED_BY_HEADER]: host } };
}
