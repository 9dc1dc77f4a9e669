import {
  type AccessDecision,
  type AccessPolicy,
  decideAccess,
  decideUse,
  type Peer,
} from '../access/decide-access.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type AnsweredRequest, Answering } from './answering.ts';
import { refusal } from './error-reply.ts';
import type { Exchange, Unsent } from './exchange.ts';
import { Forwarder, type ForwarderOptions } from './forwarder.ts';
import { MemoryBudget } from './memory-budget.ts';
import { OpenSockets } from './open-sockets.ts';
import { OpenStreams } from './open-streams.ts';
import {
  BODY_TIMEOUT_MS,
  BodyMemory,
  collectBody,
  noMemory,
  packedBody,
  SlowBodies,
  tooLarge,
} from './request-body.ts';
import type { Call } from './request-call.ts';
import { asksForSocket, type RequestHead } from './request-head.ts';
import { RequestInput } from './request-input.ts';
import { Router } from './router.ts';
import type { Route } from './routing.ts';
import type { Row } from './row.ts';
import { RowCalls } from './row-calls.ts';
import { SocketUpgrades } from './socket-upgrades.ts';
import type { RequestTaker } from './transport.ts';
import { UnsentAnswers } from './unsent-answers.ts';
import type { Upload } from './upload.ts';

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
  #upgrades: SocketUpgrades;
  #forwarder: Forwarder;
  #memory: BodyMemory;
  #input: RequestInput;
  #calls: RowCalls;
  readonly settled = () => {
    this.#pending -= 1;
    if (this.#pending === 0) this.#whenIdle?.();
  };

  constructor(options: HandlingOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    this.#slow = new SlowBodies(options.clock);
    const { body_bytes, read_ahead_bytes, unsent_bytes, streams, stall_ms, ping_ms } = options.limits;
    this.#memory = new BodyMemory(body_bytes);
    this.unsent = {
      read_ahead: new MemoryBudget(read_ahead_bytes),
      answers: new UnsentAnswers(unsent_bytes),
      streams: new OpenStreams(options.clock, streams),
      relays: new OpenStreams(options.clock, options.limits.forwards),
      ...{ clock: options.clock, stall_ms },
    };
    this.#answers = new Answering({ ...options, streams: this.unsent.streams });
    this.#input = new RequestInput(options.route);
    this.#forwarder = new Forwarder(options);
    this.#calls = new RowCalls(this.#answers, this.#forwarder);
    const sockets = options.routes.flatMap(({ socket }) => (socket === undefined ? [] : [socket]));
    this.longest_message = Math.max(
      CONTROL_FRAME_BYTES,
      ...sockets.map(({ takes }) => takes?.most_bytes ?? 0),
    );
    this.most_unsent = Math.max(0, ...sockets.map(({ unsent_bytes: most }) => most));
    this.#sockets = new OpenSockets({ clock: options.clock, logger: options.logger, ping_ms });
    this.#upgrades = new SocketUpgrades(options, this.#answers, this.#input, this.#sockets);
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
      if (this.#admits(accepted, peer)) this.#match(accepted);
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

  /** False for a request that its head alone has refused: a fault in its framing, no access, an unknown expectation. */
  #admits(call: Call, peer: Peer): boolean {
    const { head } = call;
    if (head.fault !== null) {
      this.#answers.fail(call, refusal('invalid_request', head.fault, { issues: [] }), true);
      return false;
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
    if (!this.#grants(call, decision)) return false;
    const { expect } = head.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      const sentence = 'The only expectation that a request may state is 100-continue.';
      this.#answers.fail(call, refusal('expectation_failed', sentence), true);
      return false;
    }
    return true;
  }

  #grants(call: Call, decision: AccessDecision): boolean {
    if (decision.allow) return true;
    this.#options.logger.debug({ request_id: call.exchange.id, ...decision.body }, 'request refused');
    this.#answers.answer(call, { status: decision.status, json: decision.body });
    return false;
  }

  #match(call: Call): void {
    const { head } = call;
    if (this.#pending > this.#options.limits.pending_requests) {
      throw refusal('queue_full', 'Too many requests wait for an answer; ask again in a moment.');
    }
    const match = this.#router.match(head.method, head.path);
    switch (match.kind) {
      case 'malformed':
        throw refusal('invalid_request', match.message, { issues: [] });
      case 'not_found':
        throw refusal(
          'not_found',
          `The daemon of ${this.#options.host} has no route with that path. If it is older than what asked, bring it up to date.`,
          { unknown_route: true },
        );
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
      this.#upgrades.upgrade(call, row, params);
      return;
    }
    const fetch_dest = call.head.headers['sec-fetch-dest'] ?? null;
    if (row.runs !== true && !this.#grants(call, decideUse(fetch_dest))) return;
    const booting = row.state === 'ready' ? this.#options.booting() : null;
    if (booting !== null) {
      this.#answers.answer(call, { status: 503, json: booting });
      return;
    }
    const query = this.#input.query(call, row);
    if (row.method === 'GET') {
      this.#calls.run(call, row, params, query, undefined);
      return;
    }
    const {
      'content-length': announced,
      'transfer-encoding': coding,
      'content-encoding': packed,
      'content-type': type,
    } = call.head.headers;
    if (packed !== undefined && !/^(?:identity)?$/i.test(packed)) {
      this.#answers.fail(call, packedBody(), true);
      return;
    }
    const length = announced === undefined ? null : Number(announced);
    if (length !== null && length > row.body_limit) {
      this.#answers.fail(call, tooLarge(row.body_limit), true);
      return;
    }
    const done = (bytes: Uint8Array) => {
      if (!call.exchange.open) return;
      try {
        this.#calls.run(call, row, params, query, this.#input.body(call, row, bytes, type));
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
    const hasRoom = (bytes: number) => this.#memory.hasRoomFor(call, bytes, length ?? limit);
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
      upload = this.#calls.divert(call, row, body);
    };
    const came = this.#input.looksInBody(row) ? this.#input.finder(call, row, divert, refused) : undefined;
    const body = collectBody(call.exchange, rules, { refused, done, ...(came && { came }) });
    call.exchange.whenSettled = () => {
      body.discard();
      if (upload?.whole === false) upload.stop();
      // A handler that works on the body has it for as long as it works.
      if (!call.handling) call.body_share?.release();
    };
  }
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
