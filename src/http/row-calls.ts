import { runForRequest } from '../base/request-scope.ts';
import { askedBy, senderOf } from '../contract/asked-by.ts';
import type { Answering } from './answering.ts';
import type { Forwarder } from './forwarder.ts';
import { encodedReply } from './prepared-reply.ts';
import type { Reply } from './reply.ts';
import { BODY_TIMEOUT_MS, type CollectedBody } from './request-body.ts';
import type { Call } from './request-call.ts';
import type { RequestView } from './request-view.ts';
import type { Row } from './row.ts';
import { SharedReads, type Sharer } from './shared-reads.ts';
import { Upload } from './upload.ts';

/** Time for the answer of another host to begin where its row says nothing, in milliseconds (LIM-6). */
const ANSWER_MS = 120_000;

/** Has a request answered whose input is known: by its row's handler, alone or for several at once, or by another host. */
export class RowCalls {
  readonly #answers: Answering;
  readonly #forwarder: Forwarder;
  readonly #shared = new SharedReads<SharingCall, Reply>({
    answered: ({ call }, reply) => this.#answers.answerLater(call, reply),
    failed: ({ call }, error) => this.#answers.fail(call, error),
    afterArrivals: setImmediate,
    now: () => performance.now(),
  });

  constructor(answers: Answering, forwarder: Forwarder) {
    this.#answers = answers;
    this.#forwarder = forwarder;
  }

  run(call: Call, row: Row, params: Readonly<Record<string, string>>, query: unknown, body: unknown): void {
    // Where chunks end is what servers disagree about.
    if (this.#answers.isLast(call) || call.head.headers['transfer-encoding'] !== undefined) {
      this.#answers.afterSegment(call, () => this.#handle(call, row, params, query, body));
    } else this.#handle(call, row, params, query, body);
  }

  /** Passes a body on while the rest of it comes. */
  divert(call: Call, row: Row, body: CollectedBody): Upload {
    const { exchange } = call;
    const upload = new Upload(exchange, (sink) => body.divert(sink));
    this.#forward(call, row, call.forward!, upload);
    return upload;
  }

  #handle(
    call: Call,
    row: Row,
    params: Readonly<Record<string, string>>,
    query: unknown,
    body: unknown,
  ): void {
    if (call.forward !== null) {
      this.#forward(call, row, call.forward, body instanceof Uint8Array ? body : null);
      return;
    }
    if (row.shared === true) {
      this.#share(call, row, params, query);
      return;
    }
    const view = new View(call, params, query, body);
    call.handling = true;
    const by = askedBy(senderOf(call.head.headers), call.hops[0]);
    const reply = runForRequest(call.exchange.id, () => answerOf(row, view, call), by);
    if (!(reply instanceof Promise)) {
      call.body_share?.release();
      this.#answers.answer(call, reply);
      return;
    }
    reply.then(
      (value) => {
        call.body_share?.release();
        this.#answers.answerLater(call, value);
      },
      (error: unknown) => this.#answers.fail(call, error),
    );
  }

  #forward(call: Call, row: Row, to: NonNullable<Call['forward']>, body: Uint8Array | Upload | null): void {
    const { exchange, head, hops } = call;
    const upload = body instanceof Upload ? body : null;
    const { answer_ms = ANSWER_MS, body_timeout_ms = BODY_TIMEOUT_MS } = row;
    const deadline_ms = answer_ms + (upload === null ? 0 : body_timeout_ms);
    const signal = upload === null ? exchange.signal : AbortSignal.any([exchange.signal, upload.stopped]);
    const replies = row.checks_answer === true ? row.replies : undefined;
    const { once_by_id } = row;
    const request = { id: exchange.id, head, hops, to, body, deadline_ms, replies, once_by_id, signal };
    call.handling = true;
    this.#forwarder.forward(request).then(
      (reply) => {
        call.body_share?.release();
        this.#answers.answerLater(call, reply, upload?.whole === false);
      },
      (error: unknown) => {
        upload?.stop();
        this.#answers.fail(call, error, upload?.whole === false);
      },
    );
  }

  #share(call: Call, row: Row, params: Readonly<Record<string, string>>, query: unknown): void {
    const { path, query: text } = call.head;
    const compute = (shared: { first: SharingCall; readonly signal: AbortSignal }) => {
      const view = sharedView(shared, params, query);
      const reply = runForRequest(view.id, () => answerOf(row, view, call));
      return reply instanceof Promise ? reply.then(encodedReply) : encodedReply(reply);
    };
    // What went another way may have to end in another way, and must not wait for itself.
    const way = call.remote === null ? '' : call.hops.join(', ');
    this.#shared.join(`${path}?${text} ${way}`, new SharingCall(call), compute);
  }
}

function answerOf(row: Row, view: RequestView, { remote, hops }: Call): Reply | Promise<Reply> {
  return remote === null ? row.handler(view) : row.remote!(view, remote, hops);
}

const NO_HEADERS: RequestView['headers'] = Object.freeze({});

/** A call as one of those who share an answer. */
class SharingCall implements Sharer {
  readonly call: Call;

  constructor(call: Call) {
    this.call = call;
  }

  get open(): boolean {
    return this.call.exchange.open;
  }

  get signal(): AbortSignal {
    return this.call.exchange.signal;
  }
}

/** What the handler of one request sees of it. */
export class View implements RequestView {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  #call: Call;

  constructor(call: Call, params: Readonly<Record<string, string>>, query: unknown, body: unknown) {
    this.#call = call;
    this.params = params;
    this.query = query;
    this.body = body;
  }

  get id(): string {
    return this.#call.exchange.id;
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return this.#call.head.headers;
  }

  get signal(): AbortSignal {
    return this.#call.exchange.signal;
  }
}

/** What a handler sees whose answer several requests share: nothing that only one of them said. */
function sharedView(
  shared: { first: SharingCall; readonly signal: AbortSignal },
  params: Readonly<Record<string, string>>,
  query: unknown,
): RequestView {
  const { id } = shared.first.call.exchange;
  return {
    ...{ id, params, query, body: undefined, headers: NO_HEADERS },
    get signal() {
      return shared.signal;
    },
  };
}
