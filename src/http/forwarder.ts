import type { ClientRequest, IncomingMessage } from 'node:http';
import { SANDBOX_SECURITY_HEADERS } from '../access/security-headers.ts';
import type { Clock } from '../base/clock.ts';
import { type CodedError, isCoded, messageOf } from '../base/errors.ts';
import { ASKED_BY_HEADER, senderOf } from '../contract/asked-by.ts';
import { ANSWERED_BY_HEADER, answererFault, HOPS_HEADER } from '../contract/http/forwarding.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../contract/http/idempotency.ts';
import { placeOf, type RemoteAddress } from '../contract/remote-address.ts';
import { KeptConnections, LEAST_BYTES_PER_MS, openRequest } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';
import { refusal } from './error-reply.ts';
import { wholeAnswer } from './foreign-answer.ts';
import { STATUS_LINES } from './prepared-reply.ts';
import type { Reply } from './reply.ts';
import type { RequestHead } from './request-head.ts';
import type { ReplySchema } from './row.ts';
import { Upload } from './upload.ts';

/** For a connection to another host, in milliseconds. */
const CONNECT_MS = 5_000;

export type ForwarderOptions = {
  /** The id of this host. */
  host: string;
  clock: Clock;
  /** Told of each request how it went: null where an answer began, else why there is none or no end of it. */
  observeForward?: (address: RemoteAddress, failure: unknown) => void;
  limits: {
    /** Requests that one other host may have open, so that one that hangs leaves room for the others. */
    forwards_of_one_host: number;
    /** Requests that all other hosts may have open. */
    forwards: number;
    /**
     * Milliseconds that an answer may be waited for after its head, all waits together. What comes wins time, so that an
     * answer may be of any length; one that comes too slowly is cut off.
     */
    relay_wait_ms: number;
  };
};

/** What of a request matters to the daemon that it is for. */
const PASSED_ON = [
  ...['accept', 'accept-encoding', 'content-type', 'range', 'if-range'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', IDEMPOTENCY_KEY_HEADER],
];
/** What of an answer concerns its content; the rest is about the connection, or for the daemon to say that the client asked. */
const RELAYED =
  /^(?:accept-ranges|age|allow|cache-control|content-(?:disposition|encoding|language|range|type)|etag|expires|last-modified|retry-after|vary|svc-.+|x-transcript-.+)$/;

/** A browser runs no script of another host’s answer, which would be one of this daemon’s own pages otherwise. */
const FOREIGN_CONTENT = {
  'content-security-policy': SANDBOX_SECURITY_HEADERS['Content-Security-Policy']!,
  'x-frame-options': SANDBOX_SECURITY_HEADERS['X-Frame-Options']!,
};

/** A request for another host. */
export type ForeignRequest = {
  id: string;
  head: RequestHead;
  /** The hosts that passed it on before this one. */
  hops: readonly string[];
  /** `silent` aborts once that host is known to answer nobody any more. */
  to: { host: string; address: RemoteAddress; silent?: AbortSignal | undefined };
  body: Uint8Array | Upload | null;
  /** Milliseconds until the answer must have begun. */
  deadline_ms: number;
  /** Where an answer that is no refusal must have the shape of its status; else it goes through as it comes. */
  replies?: Readonly<Record<number, ReplySchema>> | undefined;
  /** As in its row. */
  once_by_id?: boolean | undefined;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
};

/**
 * Passes requests on to the daemons of other hosts. Bytes go through as they come, both ways, and no faster than the slower
 * side takes them. A request that may have an effect is sent once, over a connection of its own.
 */
export class Forwarder {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #limits: ForwarderOptions['limits'];
  readonly #observe: NonNullable<ForwarderOptions['observeForward']>;
  readonly #kept = new KeptConnections();
  /** Requests that are open, by host. */
  readonly #open = new Map<string, number>();
  #all = 0;

  constructor({ host, clock, limits, observeForward }: ForwarderOptions) {
    this.#host = host;
    this.#clock = clock;
    this.#limits = limits;
    this.#observe = observeForward ?? (() => undefined);
  }

  /** Resolves when the head of the answer is there; rejects with a `CodedError` that names the host. */
  async forward(request: ForeignRequest): Promise<Reply> {
    const leave = this.#enter(request.to.host);
    try {
      const answer = await this.#ask(request);
      answer.once('close', leave);
      this.#observe(request.to.address, null);
      return await this.#checked(request, this.#replyOf(request, answer));
    } catch (error) {
      leave();
      // A client that went away says nothing of the other host.
      if (!request.signal.aborted) this.#observe(request.to.address, error);
      throw error;
    }
  }

  stop(): void {
    this.#kept.close();
  }

  /** Takes one of the places of a host; the function that is returned gives it back. */
  #enter(host: string): () => void {
    const open = this.#open.get(host) ?? 0;
    const { forwards_of_one_host, forwards } = this.#limits;
    if (open >= forwards_of_one_host || this.#all >= forwards) {
      const why =
        open >= forwards_of_one_host
          ? `${host} has ${open} requests of this daemon that wait for an answer; check whether it is overloaded.`
          : 'As many requests as may be forwarded already wait for other hosts; ask again in a moment.';
      throw refusal('queue_full', why, { origin: host });
    }
    this.#open.set(host, open + 1);
    this.#all += 1;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.#all -= 1;
      const left = this.#open.get(host)! - 1;
      if (left === 0) this.#open.delete(host);
      else this.#open.set(host, left);
    };
  }

  /** A kept connection may be closed by its server while a request is on its way: a read is then sent once more. */
  async #ask(request: ForeignRequest): Promise<IncomingMessage> {
    const reads = readsOnly(request.head);
    const until = this.#clock.monotonic() + request.deadline_ms;
    const first = await this.#begin(request, reads ? this.#kept : null);
    try {
      return await this.#answerTo(first, request, until);
    } catch (error) {
      const isOver = request.signal.aborted || request.to.silent?.aborted || this.#clock.monotonic() >= until;
      if (!reads || !first.reusedSocket || isOver) throw error;
      const second = await this.#begin(request, null);
      return this.#answerTo(second, request, until);
    }
  }

  async #begin(request: ForeignRequest, kept: KeptConnections | null): Promise<ClientRequest> {
    const { head, hops, to, id, body, replies } = request;
    const { 'accept-encoding': _coding, ...rest } = head.headers;
    // What is read here has to come as it is.
    const headers = replies === undefined ? head.headers : rest;
    const length = body instanceof Upload ? headers['content-length'] : body?.length;
    const passed = PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
    try {
      return await openRequest({
        to: await serverAt(to.address),
        method: head.method,
        path: head.query === '' ? head.path : `${head.path}?${head.query}`,
        headers: {
          ...Object.fromEntries(passed),
          ...(length !== undefined && { 'content-length': length }),
          [HOPS_HEADER]: [...hops, this.#host].join(', '),
          'x-request-id': id,
          [ASKED_BY_HEADER]: senderOf(head.headers),
        },
        kept,
      });
    } catch (error) {
      if (isCoded(error, 'invalid_config')) throw untrusted(request, error.message);
      throw unreachable(request, messageOf(error), 'nothing');
    }
  }

  #answerTo(call: ClientRequest, request: ForeignRequest, until: number): Promise<IncomingMessage> {
    const { body, signal, to } = request;
    return new Promise((resolve, reject) => {
      let sent = false;
      const late = this.#clock.after(until - this.#clock.monotonic(), () => {
        reject(tooLate(request));
        call.destroy();
      });
      const unconnected = this.#clock.after(CONNECT_MS, () => {
        if (sent) return;
        reject(unreachable(request, `no connection within ${CONNECT_MS / 1_000} s`, 'nothing'));
        call.destroy();
      });
      const leave = () => call.destroy();
      const giveUp = () => {
        const why = 'it stopped answering while this request waited';
        reject(unreachable(request, why, sent ? 'maybe' : 'nothing'));
        call.destroy();
      };
      call.once('socket', (socket) => {
        const connected = () => {
          sent = true;
          unconnected();
        };
        if (socket.connecting) socket.once('connect', connected);
        else connected();
      });
      call.once('response', (response) => {
        late();
        to.silent?.removeEventListener('abort', giveUp);
        response.on('error', () => undefined);
        resolve(response);
      });
      call.on('error', (error) => reject(unreachable(request, messageOf(error), sent ? 'maybe' : 'nothing')));
      call.once('close', () => {
        late();
        unconnected();
        signal.removeEventListener('abort', leave);
        to.silent?.removeEventListener('abort', giveUp);
        reject(unreachable(request, `the connection to ${to.host} was closed`, sent ? 'maybe' : 'nothing'));
      });
      signal.addEventListener('abort', leave, { once: true });
      to.silent?.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) leave();
      else if (to.silent?.aborted) giveUp();
      else if (body instanceof Upload) body.sendTo(call);
      else call.end(body ?? undefined);
    });
  }

  async #checked(request: ForeignRequest, reply: Reply): Promise<Reply> {
    if (request.replies === undefined) return reply;
    try {
      return await wholeAnswer(reply, request.replies);
    } catch (error) {
      throw unreadable(request, messageOf(error));
    }
  }

  /** The answer as it goes on; one that cannot be of a daemon, or whose end could not be told, is none. */
  #replyOf(request: ForeignRequest, answer: IncomingMessage): Reply {
    const { statusCode: status = 0, headers } = answer;
    const { host, address } = request.to;
    const refused = (what: string) => {
      answer.destroy();
      return unreachable(request, `${what}; ${placeOf(address)} may not be the address of ${host}`, 'maybe');
    };
    const by = STATUS_LINES.has(status) ? headers[ANSWERED_BY_HEADER] : undefined;
    const fault = answererFault({ status, by }, host);
    if (fault !== null) throw refused(fault);
    const relayed: Record<string, string> = { ...FOREIGN_CONTENT };
    for (const [name, value] of Object.entries(headers))
      if (RELAYED.test(name) && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value))
        relayed[name] = value;
    const length = headers['content-length'];
    const size = length === undefined ? null : Number(length);
    if (status === 204 || status === 304 || size === 0) {
      answer.resume();
      return { status, headers: relayed, empty: true };
    }
    if (request.head.method === 'HEAD') {
      answer.resume();
      return { status, headers: relayed, relayed: NOTHING, size };
    }
    if (size === null && headers['transfer-encoding'] === undefined)
      throw refused('its answer has neither a length nor chunks');
    return { status, headers: relayed, relayed: this.#bytesOf(answer, request), size };
  }

  async *#bytesOf(answer: IncomingMessage, { to, signal }: ForeignRequest): AsyncGenerator<Uint8Array> {
    const pieces: AsyncIterator<Uint8Array> = answer.iterator({ destroyOnReturn: false });
    let left_ms = this.#limits.relay_wait_ms;
    try {
      for (;;) {
        const from = performance.now();
        const cancel = this.#clock.after(left_ms, () =>
          answer.destroy(new Error('the answer arrives too slowly')),
        );
        const next = await pieces.next().finally(cancel);
        if (next.done) return;
        left_ms += next.value.length / LEAST_BYTES_PER_MS - (performance.now() - from);
        yield next.value;
      }
    } catch (error) {
      if (!signal.aborted) this.#observe(to.address, error);
      throw error;
    } finally {
      await pieces.return?.();
      // The connection of an answer that is there to its end is kept.
      if (answer.complete) answer.resume();
      else answer.destroy();
    }
  }
}

const NOTHING: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: async function* nothing() {} };

function readsOnly({ method }: RequestHead): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** What the caller of a request that may have an effect has to know before it is sent again. */
function effectOf({ head, once_by_id }: ForeignRequest, sent: 'nothing' | 'maybe'): string {
  if (readsOnly(head)) return '';
  if (sent === 'nothing') return ' Nothing was sent.';
  return once_by_id === true
    ? ' It may have taken effect; sent again with the same message_id, it takes effect once.'
    : ' It may have taken effect: check on that host before you send it again.';
}

/** Nothing is sent to a socket that another user may have made. */
function untrusted(request: ForeignRequest, why: string): CodedError {
  const { host } = request.to;
  return refusal('invalid_config', `${host} was not contacted: ${why}.${effectOf(request, 'nothing')}`, {
    origin: host,
  });
}

function unreachable(request: ForeignRequest, why: string, sent: 'nothing' | 'maybe'): CodedError {
  const { host, address } = request.to;
  const sentence = `${host} does not answer at ${placeOf(address)}: ${why}. Check that its daemon and its tunnel are running.`;
  return refusal('remote_unreachable', `${sentence}${effectOf(request, sent)}`, { origin: host });
}

function unreadable(request: ForeignRequest, why: string): CodedError {
  const { host, address } = request.to;
  const sentence = `${host} answers at ${placeOf(address)}, but what it answered cannot be read: ${why}.`;
  return refusal('answer_unreadable', `${sentence}${effectOf(request, 'maybe')}`, { origin: host });
}

function tooLate(request: ForeignRequest): CodedError {
  const { host, address } = request.to;
  const sentence = `${host} did not answer at ${placeOf(address)} within ${Math.round(request.deadline_ms / 1_000)} s.`;
  return refusal('deadline_exceeded', `${sentence}${effectOf(request, 'maybe')}`, { origin: host });
}
