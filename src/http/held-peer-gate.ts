import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { ConnectionEnds, PeerLookup } from '../platform/peer-credentials-lsof.ts';
import type { PeerVerdict } from '../platform/peer-verdict.ts';
import { PeerRefusals } from './peer-refusals.ts';

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
