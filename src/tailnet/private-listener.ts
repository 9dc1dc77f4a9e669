import { isDeepStrictEqual } from 'node:util';
import { type BackoffPolicy, backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { TailnetNetwork } from '../contract/threads/fleet.ts';

/** Between two tries to bind: the address is there only some time after tailscaled says so. In milliseconds. */
const BIND_BACKOFF: BackoffPolicy = { first: 1_000, most: 60_000 };

/** Where it is listened to, and the names by which requests may call it. */
export type PrivatePlace = { host: string; port: number; names: readonly string[] };
export type PrivateListening = { address: string; close(): Promise<void> };

/** Where a machine is reached over the tailnet; null where it has no address there. */
export function placeOf(network: TailnetNetwork | null, port: number): PrivatePlace | null {
  if (network === null) return null;
  const { has_interface, self } = network;
  const [address] = self.addresses;
  if (address === undefined) return null;
  const names = [...self.addresses, ...(self.dns_name === '' ? [] : [self.dns_name])];
  // Without an interface, tailscaled connects to the same port of loopback.
  return { host: has_interface ? address : '127.0.0.1', port, names };
}

/**
 * Listens where this machine is reached over the tailnet, and follows its address. It tries again, with a back-off, while
 * the address cannot be bound.
 */
export class PrivateListener {
  readonly #port: number;
  readonly #bind: (place: PrivatePlace) => Promise<PrivateListening>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #changed: () => void;
  #wanted: PrivatePlace | null = null;
  #bound: { place: PrivatePlace; listening: PrivateListening } | null = null;
  #error: string | null = null;
  #failures = 0;
  #cancelRetry = () => {};
  #turn: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: {
    port: number;
    /** Rejects with an `Error` whose message is a sentence. */
    bind(place: PrivatePlace): Promise<PrivateListening>;
    clock: Clock;
    logger: Logger;
    /** Told whenever `state` says something else. */
    changed(): void;
  }) {
    this.#port = options.port;
    this.#bind = options.bind;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#changed = options.changed;
  }

  /** The address that is bound, and why none is. */
  state(): { address: string | null; error: string | null } {
    return { address: this.#bound?.listening.address ?? null, error: this.#error };
  }

  /** Takes the tailnet as it is now. While nothing is known of it, what is bound stays: its gate lets nobody in. */
  follow(network: TailnetNetwork | null): void {
    const place = placeOf(network, this.#port);
    if (place === null || isDeepStrictEqual(place, this.#wanted)) return;
    this.#wanted = place;
    this.#failures = 0;
    this.#again();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry();
    await this.#turn;
    await this.#bound?.listening.close();
    this.#bound = null;
  }

  #again(): void {
    this.#cancelRetry();
    this.#turn = this.#turn.then(() => this.#move());
  }

  async #move(): Promise<void> {
    const place = this.#wanted;
    if (this.#stopped || place === null || this.#bound?.place === place) return;
    const before = this.#bound;
    this.#bound = null;
    await before?.listening.close();
    try {
      this.#bound = { place, listening: await this.#bind(place) };
      this.#error = null;
      this.#failures = 0;
      this.#logger.info({ listen: this.#bound.listening.address }, 'listening in the tailnet');
    } catch (error) {
      const why = messageOf(error);
      if (why !== this.#error)
        this.#logger.warn({ err: error }, 'cannot listen on the address in the tailnet');
      this.#error = why;
      this.#failures += 1;
      if (!this.#stopped)
        this.#cancelRetry = this.#clock.after(backoffDelay(BIND_BACKOFF, this.#failures), () =>
          this.#again(),
        );
    }
    this.#changed();
  }
}
