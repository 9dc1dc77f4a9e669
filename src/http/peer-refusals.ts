import type { HttpResponse } from 'uWebSockets.js';
import { refusePeer } from '../access/decide-access.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { PeerVerdict } from '../platform/peer-verdict.ts';

/** Milliseconds between two lines of the log about refusals. */
const LOG_EVERY_MS = 10_000;

/** Carries out what was decided about new connections (AUT-2, ERR-8): those that stay are left alone. */
export class PeerRefusals {
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
    const now = this.#clock.now();
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
