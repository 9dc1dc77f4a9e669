import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { refusePeer } from '../access/decide-access.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { KnowingPeerCredentials } from '../platform/peer-credentials.ts';
import type { ConnectionEnds, PeerLookup } from '../platform/peer-credentials-lsof.ts';
import type { AcceptedConnection, TcpEndpoint } from '../platform/peer-credentials-tcp-rows.ts';
import type { PeerVerdict } from '../platform/peer-verdict.ts';

/** Connections that wait for one look at the tables; with more, it is taken at once. */
const MOST_UNDECIDED = 512;
/** Of so many open files, each connection can afford to look at all. */
const FEW_FILES = 256;

type Undecided = AcceptedConnection & { response: HttpResponse };

/**
 * Decides about each TCP connection before anything that came over it is handled (AUT-2, ERR-8): once a
 * connection, for all connections accepted in one turn together. A refused one is closed by the decision
 * itself, whether or not its 403 could be sent, so nothing it has sent is ever read.
 */
export class PeerGate {
  #credentials: KnowingPeerCredentials;
  #logger: Logger;
  #refusals: PeerRefusals;
  #undecided: Undecided[] = [];
  /** Whether a connection that is undecided was looked for quickly, so that one may have been passed over. */
  #looked_quickly = false;
  #stopped = false;

  constructor(options: { credentials: KnowingPeerCredentials; logger: Logger; clock: Clock }) {
    this.#credentials = options.credentials;
    this.#logger = options.logger;
    this.#refusals = new PeerRefusals(options);
  }

  /** Watches an app that will listen at one endpoint, which is known by the time it has connections. */
  guard(app: TemplatedApp, endpoint: () => TcpEndpoint): void {
    const accepted = (response: HttpResponse, count: number | number) => {
      if (Number(count) > 0) this.#accepted(response, endpoint);
    };
    app.filter(accepted);
  }

  /**
   * Decides about every connection that waits for it. Call it before any request is handled: a request is then
   * never handled while its own connection, whatever the order of events, is still undecided.
   */
  settle(): void {
    if (this.#undecided.length === 0) return;
    const connections = this.#undecided;
    this.#undecided = [];
    this.#looked_quickly = false;
    const verdicts = this.#judge(connections);
    for (const [index, { response }] of connections.entries())
      this.#refusals.carryOut(response, verdicts[index]);
  }

  /** Must be called before the apps are closed: their connections must not be touched afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#undecided = [];
  }

  #accepted(response: HttpResponse, endpoint: () => TcpEndpoint): void {
    if (this.#stopped) {
      response.close();
      return;
    }
    if (this.#undecided.length >= MOST_UNDECIDED) this.settle();
    try {
      const inodes = this.#socketOf();
      this.#undecided.push({ inodes, endpoint: endpoint(), response });
    } catch (error) {
      this.#logger.error({ err: error }, 'a connection could not be looked up');
      response.close();
      return;
    }
    // The library reads from a connection in a later turn than the one that accepts it.
    if (this.#undecided.length === 1) setImmediate(() => this.settle());
  }

  /**
   * Inodes among which is that of the connection just accepted and of no other that is open. Looking quickly
   * may pass over a socket, but never to find it later: before it looks again at everything, all connections
   * so far are decided, and those whose socket was not found are closed by that.
   */
  #socketOf(): Set<number> {
    if (this.#undecided.length > 0 && this.#credentials.openFiles() > FEW_FILES) {
      this.#looked_quickly = true;
      const found = this.#credentials.appearedSockets('quickly');
      if (found.size > 0) return found;
    }
    if (this.#looked_quickly) this.settle();
    return this.#credentials.appearedSockets('surely');
  }

  #judge(connections: readonly Undecided[]): PeerVerdict[] {
    try {
      return this.#credentials.judge(connections);
    } catch (error) {
      this.#logger.error({ err: error }, 'the peers of new connections could not be looked up');
      return [];
    }
  }
}

/** Connections that wait for a look; more are closed without an answer. */
const MOST_HELD = 512;

type Held = { ends: ConnectionEnds; response: HttpResponse; decided: () => void };

/**
 * Decides about TCP connections where a look at who dialled takes a while (AUT-2): each is held, and nothing of it
 * read, until the look that began after it was accepted has told. What comes during a look waits for the next one.
 */
export class HeldPeerGate {
  #lookup: Pick<PeerLookup, 'lookUp'>;
  #logger: Logger;
  #refusals: PeerRefusals;
  #held: Held[] = [];
  #looking = false;
  #stopped = false;

  constructor(options: { lookup: Pick<PeerLookup, 'lookUp'>; logger: Logger; clock: Clock }) {
    this.#lookup = options.lookup;
    this.#logger = options.logger;
    this.#refusals = new PeerRefusals(options);
  }

  /** Resolves when the connection has been decided about; one that may not stay has been closed by then. */
  hold(response: HttpResponse, ends: ConnectionEnds): Promise<void> {
    if (this.#stopped || this.#held.length >= MOST_HELD) {
      response.close();
      return Promise.resolve();
    }
    return new Promise((decided) => {
      this.#held.push({ ends, response, decided });
      if (!this.#looking) void this.#look();
    });
  }

  /** Closes what is still held, and lets nobody in any more. */
  stop(): void {
    this.#stopped = true;
    for (const { response, decided } of this.#held.splice(0)) {
      response.close();
      decided();
    }
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#held.length > 0) {
      const looked_at = this.#held.splice(0);
      const verdicts = await this.#judge(looked_at);
      for (const [index, { response, decided }] of looked_at.entries()) {
        if (this.#stopped) response.close();
        else this.#refusals.carryOut(response, verdicts[index]);
        decided();
      }
    }
    this.#looking = false;
  }

  async #judge(connections: readonly Held[]): Promise<PeerVerdict[]> {
    try {
      return await this.#lookup.lookUp(connections.map(({ ends }) => ends));
    } catch (error) {
      this.#logger.error({ err: error }, 'the peers of new connections could not be looked up');
      return [];
    }
  }
}

/** Milliseconds between two lines of the log about refusals. */
const LOG_EVERY_MS = 10_000;

/** Carries out what was decided about new connections (AUT-2, ERR-8): those that stay are left alone. */
class PeerRefusals {
  #logger: Logger;
  #clock: Clock;
  #refused = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: { logger: Logger; clock: Clock }) {
    this.#logger = options.logger;
    this.#clock = options.clock;
  }

  /** Without a verdict the connection is closed without a word. */
  carryOut(response: HttpResponse, verdict: PeerVerdict = { kind: 'no_connection' }): void {
    if (verdict.kind === 'own_uid') return;
    if (verdict.kind !== 'no_connection') {
      const decision = refusePeer(verdict);
      if (decision !== null && !decision.allow) writeRefusal(response, JSON.stringify(decision.body));
    }
    response.close();
    this.#note(verdict);
  }

  /** A stranger can dial as often as it likes, but not fill the log. */
  #note(verdict: PeerVerdict): void {
    this.#refused += 1;
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#logger.warn({ peer: verdict, refused: this.#refused }, 'connections refused');
    this.#loggedAt = now;
    this.#refused = 0;
  }
}

/**
 * Writes a whole 403 without ending it. Ending it would let go of the response, and a peer that has reset its
 * connection by then keeps the answer from leaving and so the connection from being closed, until the library
 * reads, and handles, the request that waits there. This way the caller can always close it.
 */
function writeRefusal(response: HttpResponse, json: string): void {
  response.cork(() => {
    response.writeStatus('403 Forbidden');
    response.writeHeader('Content-Type', 'application/json');
    response.writeHeader('X-Content-Type-Options', 'nosniff');
    response.writeHeader('Cache-Control', 'no-store');
    response.writeHeader('Connection', 'close');
    // The library ends each header line; that line break is the last two bytes of the body.
    response.writeHeader('Content-Length', `${Buffer.byteLength(json) + 2}\r\n\r\n${json}`);
  });
}
