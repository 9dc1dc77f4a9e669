import type { z } from 'zod';
import { type AccessPolicy, decideAccess, type Peer } from '../access/decide-access.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { runForRequest } from '../base/request-scope.ts';
import { type AnsweredRequest, Answering } from './answering.ts';
import { refusal } from './error-reply.ts';
import type { Exchange, Unsent } from './exchange.ts';
import { FieldScan } from './field-scan.ts';
import { Forwarder, type ForwarderOptions } from './forwarder.ts';
import { asksForSocket, handshakeFault } from './handshake.ts';
import { BudgetShare, MemoryBudget } from './memory-budget.ts';
import { OpenSockets } from './open-sockets.ts';
import { OpenStreams } from './open-streams.ts';
import { encodedReply } from './prepared-reply.ts';
import { type CollectedBody, collectBody, noMemory, parseJsonBody, tooLarge } from './request-body.ts';
import { type Call, SharingCall, sharedView, View } from './request-call.ts';
import type { RequestHead } from './request-head.ts';
import { Router } from './router.ts';
import { addressedHost, namedHost, type Route } from './routing.ts';
import type { Reply, RequestView, Row } from './row.ts';
import { parseInput } from './schema-issues.ts';
import { SharedReads } from './shared-reads.ts';
import { SlowBodies } from './slow-bodies.ts';
import type { Socket, SocketHandler, SocketRules } from './socket.ts';
import { relayRow, relaySocket } from './socket-relay.ts';
import type { RequestTaker } from './transport.ts';
import { UnsentAnswers } from './unsent-answers.ts';
import { Upload } from './upload.ts';
import { parseQuery } from './url-query.ts';

export type HandlingOptions = {
  /** The id of this host. */
  host: string;
  routes: readonly Row[];
  access: AccessPolicy;
  /** The 503 body while the daemon boots, null once it is ready (RDY-1). */
  booting: () => Readonly<Record<string, unknown>> | null;
  /** Decides which daemon answers a request that names a host. */
  route: Route;
  limits: {
    /** Requests that may wait for an answer at one time; more are answered 503 `queue_full`. */
    pending_requests: number;
    /** Bytes that all longer bodies may have together; more are answered 503 `memory_full`. */
    body_bytes: number;
    read_ahead_bytes: number;
    unsent_bytes: number;
    /** Open-ended answers at one time; more are answered 503 `too_many_connections`. */
    streams: number;
    stall_ms: number;
    ping_ms: number;
  } & ForwarderOptions['limits'];
  /** Told how each request went that was passed on to another host. */
  observeForward?: ForwarderOptions['observeForward'];
  /** Decides about new connections that are still undecided, and closes those it refuses (AUT-2). */
  settlePeers: () => void;
  /** Told of every request that was given an answer. */
  observe?: (request: AnsweredRequest) => void;
  logger: Logger;
  clock: Clock;
};

/** Time for a whole body where its row says nothing, in milliseconds. */
const BODY_TIMEOUT_MS = 30_000;
/** Time for the answer of another host to begin where its row says nothing, in milliseconds (LIM-6). */
const ANSWER_MS = 120_000;
/** A body of up to this many bytes needs no budget: so many requests wait at most that they are bounded. */
const SHORT_BODY = 16 * 1024;
/** Bodies above this have a part of the budget of their own, so that documents are taken while they use it up. */
const LONG_BODY = 4 * 1024 * 1024;
const KEPT_FROM_LONG_BODIES = 0.2;
const NO_HOPS: string[] = [];
/** Bytes of the longest control frame, which transports hold to the limit of messages too. */
const CONTROL_FRAME_BYTES = 125;
/** Close code of a server that stops (RFC 6455). */
const GOING_AWAY = 1001;

/**
 * Takes each request through the same ladder: framing, access, row, readiness, query, host, body, handler or another
 * host, answer.
 * Nothing that a handler or a client does gets past it as an exception.
 */
export class RequestHandling implements RequestTaker {
  #options: HandlingOptions;
  #router: Router;
  #pending = 0;
  #whenIdle: (() => void) | null = null;
  #count = 0;
  #prefix: string;
  #answers: Answering;
  #slow: SlowBodies;
  readonly unsent: Unsent;
  readonly longest_message: number;
  readonly most_unsent: number;
  #sockets: OpenSockets;
  #forwarder: Forwarder;
  #bodies: MemoryBudget;
  #longBodies: MemoryBudget;
  #shared = new SharedReads<SharingCall, Reply>({
    answered: ({ call }, reply) => this.#answers.answerLater(call, reply),
    failed: ({ call }, error) => this.#answers.fail(call, error),
    afterArrivals: setImmediate,
    now: () => performance.now(),
  });
  readonly settled = () => {
    this.#pending -= 1;
    if (this.#pending === 0) this.#whenIdle?.();
  };

  constructor(options: HandlingOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    this.#slow = new SlowBodies(options.clock);
    const { body_bytes, read_ahead_bytes, unsent_bytes, streams, stall_ms, ping_ms } = options.limits;
    this.#bodies = new MemoryBudget(body_bytes * KEPT_FROM_LONG_BODIES);
    this.#longBodies = new MemoryBudget(body_bytes * (1 - KEPT_FROM_LONG_BODIES));
    this.unsent = {
      read_ahead: new MemoryBudget(read_ahead_bytes),
      answers: new UnsentAnswers(unsent_bytes),
      streams: new OpenStreams(options.clock, streams),
      relays: new OpenStreams(options.clock, options.limits.forwards),
      ...{ clock: options.clock, stall_ms },
    };
    this.#answers = new Answering({ ...options, streams: this.unsent.streams });
    this.#forwarder = new Forwarder(options);
    const sockets = options.routes.flatMap(({ socket }) => (socket === undefined ? [] : [socket]));
    this.longest_message = Math.max(
      CONTROL_FRAME_BYTES,
      ...sockets.map(({ takes }) => takes?.most_bytes ?? 0),
    );
    this.most_unsent = Math.max(0, ...sockets.map(({ unsent_bytes: most }) => most));
    this.#sockets = new OpenSockets({ clock: options.clock, logger: options.logger, ping_ms });
    this.#prefix = options.clock.now().toString(36);
  }

  nextId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }

  take<S>(exchange: Exchange, peer: Peer, read: (source: S) => RequestHead, source: S): void {
    this.#pending += 1;
    this.#options.settlePeers();
    if (!exchange.open) return;
    let call: Call | null = null;
    try {
      const head = read(source);
      const hops = hopsOf(head);
      if (hops.length > 0) exchange.id = idOf(head) ?? exchange.id;
      const accepted: Call = {
        exchange,
        head,
        hops,
        started_at: performance.now(),
        row: null,
        remote: null,
        forward: null,
        waited: false,
        handling: false,
        body_share: null,
      };
      call = accepted;
      if (exchange.may_refuse) exchange.refuse = (error) => this.#answers.fail(accepted, error, true);
      this.#admit(accepted, peer);
    } catch (error) {
      if (call === null) exchange.drop();
      else this.#answers.fail(call, error);
    }
  }

  /**
   * Closes every WebSocket and ends every open-ended answer. Resolves when they are closed and no request waits for an
   * answer; every answer from now on ends its connection.
   */
  async drain(): Promise<void> {
    this.#answers.closing = true;
    this.unsent.streams.endAll();
    await this.#sockets.closeAll(GOING_AWAY, 'The daemon stops.');
    this.#forwarder.stop();
    if (this.#pending === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #admit(call: Call, peer: Peer): void {
    const { head } = call;
    if (head.fault !== null) {
      this.#answers.fail(call, refusal('invalid_request', head.fault, { issues: [] }), true);
      return;
    }
    const decision = decideAccess(
      {
        host: head.headers.host ?? null,
        origin: head.headers.origin ?? null,
        fetch_site: head.headers['sec-fetch-site'] ?? null,
        fetch_mode: head.headers['sec-fetch-mode'] ?? null,
        fetch_dest: head.headers['sec-fetch-dest'] ?? null,
        method: head.method,
        is_upgrade: head.headers.upgrade !== undefined,
        peer,
      },
      this.#options.access,
    );
    if (!decision.allow) {
      this.#options.logger.debug({ request_id: call.exchange.id, ...decision.body }, 'request refused');
      this.#answers.answer(call, { status: decision.status, json: decision.body });
      return;
    }
    const { expect } = head.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      const sentence = 'The only supported value of Expect is 100-continue.';
      this.#answers.fail(call, refusal('expectation_failed', sentence), true);
      return;
    }
    if (this.#pending > this.#options.limits.pending_requests) {
      throw refusal('queue_full', 'Too many requests wait for an answer; ask again in a moment.');
    }
    const match = this.#router.match(head.method, head.path);
    switch (match.kind) {
      case 'malformed':
        throw refusal('invalid_request', match.message, { issues: [] });
      case 'not_found':
        throw refusal('not_found', 'This daemon has no route with that path.', { unknown_route: true });
      case 'method_not_allowed':
        if (head.method === 'OPTIONS') {
          this.#answers.answer(call, {
            status: 204,
            empty: true,
            headers: { Allow: `${match.allow}, OPTIONS` },
          });
          return;
        }
        this.#answers.answer(call, {
          status: 405,
          json: { error: 'method_not_allowed', message: `This route takes ${match.allow}.` },
          headers: { Allow: match.allow },
        });
        return;
      case 'row':
        this.#serve(call, match.compiled.row, match.params);
    }
  }

  #serve(call: Call, row: Row, params: Readonly<Record<string, string>>): void {
    call.row = row;
    if (asksForSocket(call.head)) {
      this.#upgrade(call, row, params);
      return;
    }
    const booting = row.state === 'ready' ? this.#options.booting() : null;
    if (booting !== null) {
      this.#answers.answer(call, { status: 503, json: booting });
      return;
    }
    const query = row.query === undefined ? undefined : this.#readQuery(call, row, row.query);
    if (row.method === 'GET') {
      this.#run(call, row, params, query, undefined);
      return;
    }
    const {
      'content-length': announced,
      'transfer-encoding': coding,
      'content-type': type,
    } = call.head.headers;
    const length = announced === undefined ? null : Number(announced);
    if (length !== null && length > row.body_limit) {
      this.#answers.fail(call, tooLarge(row.body_limit), true);
      return;
    }
    const done = (bytes: Uint8Array) => {
      if (!call.exchange.open) return;
      try {
        this.#run(call, row, params, query, this.#readBody(call, row, bytes, type));
      } catch (error) {
        this.#answers.fail(call, error);
      }
    };
    // The native server never tells the end of an empty body whose head is cut in its last line end.
    if (coding === undefined && (length ?? 0) === 0) {
      done(new Uint8Array(0));
      return;
    }
    const { body_limit: limit, body_timeout_ms: timeout_ms = BODY_TIMEOUT_MS } = row;
    const hasRoom = (bytes: number) => this.#hasRoomFor(call, bytes, length ?? limit);
    if (!hasRoom(length ?? 0)) {
      // The connection stays: closed under a client that still sends, it would be reset, and the answer lost with it.
      this.#answers.fail(call, noMemory());
      return;
    }
    const rules = { length, limit, timeout_ms, slow: this.#slow, hasRoom };
    let upload: Upload | null = null;
    const refused = (error: unknown) => {
      body.discard();
      upload?.stop();
      this.#answers.fail(call, upload?.waits ? takesNothing(call) : error, true);
    };
    const divert = () => {
      upload = this.#divert(call, row, body);
    };
    const came = this.#looksForOrigin(row) ? this.#originFinder(call, row, divert, refused) : undefined;
    const body = collectBody(call.exchange, rules, { refused, done, ...(came && { came }) });
    call.exchange.whenSettled = () => {
      body.discard();
      if (upload?.whole === false) upload.stop();
      // A handler that works on the body has it for as long as it works.
      if (!call.handling) call.body_share?.release();
    };
  }

  #readQuery(call: Call, row: Row, schema: z.ZodType): unknown {
    const { query: text } = call.head;
    const last = lastQueries.get(row);
    if (last?.text === text) {
      this.#route(call, row, last.values);
      return last.value;
    }
    const parsed = parseQuery(text);
    if (!parsed.ok) throw refusal('invalid_request', parsed.message, { issues: [] });
    const { values } = parsed;
    this.#route(call, row, values);
    if (call.forward !== null) return undefined;
    const value = Object.freeze(parseInput(schema, values, 'query'));
    lastQueries.set(row, { text, values, value });
    return value;
  }

  #readBody(call: Call, row: Row, bytes: Uint8Array, content_type: string | undefined): unknown {
    if (row.body === 'bytes') return bytes;
    const json = parseJsonBody(bytes, content_type);
    this.#route(call, row, json);
    if (call.forward !== null) return bytes;
    return row.body === undefined ? undefined : parseInput(row.body, json, 'body');
  }

  /** Comes before the schemas: what is meant for another host is not for this one to judge. */
  #route(call: Call, row: Row, input: unknown): void {
    if (row.begins_here?.(input) === true) return;
    const origin = namedHost(row.routing, input);
    const named = origin ?? addressedHost(row, input);
    if (named === undefined) return;
    const destination = this.#options.route(row.routing, named, call.hops);
    if (destination.kind === 'local') return;
    if (destination.kind === 'refused') {
      if (origin === undefined && destination.code === 'unknown_host') return;
      throw refusal(destination.code, destination.message, destination.details);
    }
    const { host, address, silent } = destination;
    if (row.remote !== undefined) call.remote = host;
    else if (address !== null) call.forward = { host, address, silent };
    else
      throw refusal('unknown_host', `No address of "${host}" is known here; see: svc remotes list`, {
        origin: host,
      });
  }

  #upgrade(call: Call, row: Row, params: Readonly<Record<string, string>>): void {
    const { exchange, head } = call;
    const { socket } = row;
    const fault =
      socket === undefined
        ? 'There is no WebSocket at this path; send the request without an Upgrade header.'
        : handshakeFault(head);
    if (socket === undefined || fault !== null || !exchange.upgradable) {
      const sentence = fault ?? 'The handshake of the WebSocket cannot be read.';
      this.#answers.fail(call, refusal('invalid_request', sentence, { issues: [] }), true);
      return;
    }
    const booting = row.state === 'ready' ? this.#options.booting() : null;
    if (booting !== null) {
      this.#answers.answer(call, { status: 503, json: booting }, true);
      return;
    }
    const query = row.query === undefined ? undefined : this.#readQuery(call, row, row.query);
    const { forward } = call;
    const rules = forward === null ? socket : relayRow(socket);
    if (this.#answers.closing || !this.#sockets.hasRoom(rules)) {
      const sentence = `At most ${rules.most} clients may have ${row.path} open at one time; close one.`;
      this.#answers.fail(call, refusal('too_many_connections', sentence), true);
      return;
    }
    const view = new View(call, params, query, undefined);
    const opens = forward === null ? socket : { ...rules, open: this.#relay(call, rules, forward) };
    runForRequest(exchange.id, () =>
      exchange.upgrade((wire) => this.#sockets.opened(opens, view, wire, rules)),
    );
    this.#answers.tell(call, 101, null);
  }

  /** Serves a client with what the daemon of another host tells. */
  #relay(
    { exchange, head, hops }: Call,
    rules: SocketRules,
    to: NonNullable<Call['forward']>,
  ): (client: Socket) => SocketHandler {
    const { host, clock } = this.#options;
    const foreign = { from: { host, id: exchange.id }, head, hops, to };
    return (client) => relaySocket(foreign, rules, client, clock);
  }

  /**
   * Takes room for what has come of a body; what was announced is taken at once, so that a body which is let in can be
   * finished. A body that may become long takes from the larger part of the budget alone.
   */
  #hasRoomFor(call: Call, bytes: number, most: number): boolean {
    if (bytes <= SHORT_BODY) return true;
    call.body_share ??= new BudgetShare(most > LONG_BODY ? this.#longBodies : this.#bodies);
    return call.body_share.growTo(bytes);
  }

  #run(call: Call, row: Row, params: Readonly<Record<string, string>>, query: unknown, body: unknown): void {
    // Where chunks end is what servers disagree about.
    if (this.#answers.isLast(call) || call.head.headers['transfer-encoding'] !== undefined) {
      this.#answers.afterSegment(call, () => this.#handle(call, row, params, query, body));
    } else this.#handle(call, row, params, query, body);
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
    const reply = runForRequest(call.exchange.id, () => answerOf(row, view, call.remote));
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

  /** A body that is not parsed here is looked through for the host that it names while it comes. */
  #looksForOrigin({ body, routing }: Row): boolean {
    return body === 'bytes' && (routing === 'owner' || routing === 'host');
  }

  /** Sees the pieces of a body; calls `divert` once it is for another host, `refused` where it is for none. */
  #originFinder(call: Call, row: Row, divert: () => void, refused: (error: unknown) => void) {
    const fields = ['origin', ...(row.addressed === undefined ? [] : [row.addressed.field])];
    const scans = fields.map((field) => ({ field, scan: new FieldScan(field) }));
    let routed = false;
    return (chunk: Uint8Array) => {
      try {
        for (const { field, scan } of scans) {
          scan.feed(chunk);
          if (scan.ambiguous)
            throw refusal('invalid_request', `The body names its ${field} twice.`, { issues: [] });
          // What came first decides, and in one piece the origin does, as in a body that is parsed at once.
          if (routed || scan.value === undefined) continue;
          routed = true;
          this.#route(call, row, { [field]: scan.value });
          if (call.forward !== null) divert();
        }
      } catch (error) {
        refused(error);
      }
    };
  }

  /** Passes a body on while the rest of it comes. */
  #divert(call: Call, row: Row, body: CollectedBody): Upload {
    const { exchange } = call;
    const upload = new Upload(exchange, (sink) => body.divert(sink));
    this.#forward(call, row, call.forward!, upload);
    return upload;
  }

  #forward(call: Call, row: Row, to: NonNullable<Call['forward']>, body: Uint8Array | Upload | null): void {
    const { exchange, head, hops } = call;
    const upload = body instanceof Upload ? body : null;
    const { answer_ms = ANSWER_MS, body_timeout_ms = BODY_TIMEOUT_MS } = row;
    const deadline_ms = answer_ms + (upload === null ? 0 : body_timeout_ms);
    const signal = upload === null ? exchange.signal : AbortSignal.any([exchange.signal, upload.stopped]);
    const request = { id: exchange.id, head, hops, to, body, deadline_ms, signal };
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
      const reply = runForRequest(view.id, () => answerOf(row, view, call.remote));
      return reply instanceof Promise ? reply.then(encodedReply) : encodedReply(reply);
    };
    this.#shared.join(`${path}?${text}`, new SharingCall(call), compute);
  }
}

function answerOf(row: Row, view: RequestView, remote: string | null): Reply | Promise<Reply> {
  return remote === null ? row.handler(view) : row.remote!(view, remote);
}

/** Hosts that passed a request on; a caller that is no daemon names none. */
function hopsOf({ headers }: RequestHead): string[] {
  // In full: the engine looks up a name that it finds in the source several times faster than one that is computed.
  const hops = headers['svc-hops'];
  return hops === undefined ? NO_HOPS : hops.split(',').flatMap((hop) => hop.trim() || []);
}

/** The id under which the daemon that passed a request on has it in its log. */
function idOf({ headers }: RequestHead): string | null {
  return /^[\w.-]{1,64}$/.exec(headers['x-request-id'] ?? '')?.[0] ?? null;
}

function takesNothing({ forward }: Call): Error {
  const host = forward?.host ?? '';
  return refusal('deadline_exceeded', `${host} takes the body too slowly; see whether its daemon is well.`, {
    origin: host,
  });
}

/** What each row's last acceptable query meant: a client that polls sends the same one again and again. */
const lastQueries = new WeakMap<Row, { text: string; values: Record<string, string>; value: unknown }>();
