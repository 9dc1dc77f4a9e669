import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { KnowingPeerCredentials } from '../platform/peer-credentials.ts';
import type { AcceptedConnection, TcpEndpoint } from '../platform/peer-credentials-tcp-rows.ts';
import type { PeerVerdict } from '../platform/peer-verdict.ts';
import { PeerRefusals } from './peer-refusals.ts';

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
