import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { HOPS_HEADER } from '../contract/http/forwarding.ts';
import type { Discovery, TailnetView } from '../contract/http/version.ts';
import type { TailnetNetwork } from '../contract/threads/fleet.ts';
import { requestBytes } from '../platform/http-client.ts';
import { dialThrough } from '../platform/tailnet-dial.ts';
import { type AskedNode, askNodes, type FoundDaemon, MOST_NODES, nodesToAsk, urlOf } from './discover.ts';
import type { FoundSocket } from './find-socket.ts';
import { parseStatus, type TailnetStatus } from './tailnet-status.ts';

/** Until the whole answer of a machine is there, in milliseconds; and its limit in bytes. */
const ANSWER_MS = 2_000;
const MOST_ANSWER_BYTES = 64 * 1024;

/** A daemon that was found, where it answers and when it last did, in milliseconds since the Unix epoch. */
export type DiscoveredHost = FoundDaemon & { url: string; seen_at: number };

/** How the program of the private network is asked. */
export type TailnetProgram = {
  findSocket(): Promise<FoundSocket>;
  /** The status document by its socket. */
  askStatus(socket: string): Promise<unknown>;
  /** The same by its command line; resolves to null where there is no such program. */
  askByCommand(): Promise<unknown>;
};

export type DiscoveryOptions = {
  /** Whether other machines are asked. */
  enabled: boolean;
  /** Whether this machine is to be reached over the private network, whose state then matters at all times. */
  listens: boolean;
  interval_ms: number;
  /** Where daemons listen in the private network. */
  port: number;
  /** This host. */
  host: string;
  program: TailnetProgram;
  clock: Clock;
  logger: Logger;
  /** Told whenever a look shows something else. */
  tell(known: TailnetKnown): void;
};

/** What is told of the private network; `network` is null where it is not reached. */
export type TailnetKnown = { view: TailnetView; network: TailnetNetwork | null };

/** Between two looks at tailscaled where this machine is to be reached, in milliseconds. */
const LOOK_MS = 15_000;
const NOTHING = { peers: [], rejected: [] };

/**
 * Looks for daemons of this user in the private network, at the start and again each `interval_ms`. What it finds are
 * candidates: nothing is sent to them but `GET /version` until they are remotes.
 */
export class TailnetDiscovery {
  readonly #options: DiscoveryOptions;
  readonly #stop: () => void;
  #known: TailnetKnown;
  #asked_at = Number.NEGATIVE_INFINITY;
  #found: DiscoveredHost[] = [];
  #running = false;
  #stopped = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    const { enabled, listens, interval_ms, clock } = options;
    this.#known = { view: tailnetBefore(options), network: null };
    const every = listens ? Math.min(LOOK_MS, interval_ms) : interval_ms;
    this.#stop = enabled || listens ? clock.every(every, () => void this.run()) : () => {};
  }

  view(): TailnetView {
    return this.#known.view;
  }

  /** The daemons that the last run found. */
  found(): readonly DiscoveredHost[] {
    return this.#found;
  }

  stop(): void {
    this.#stopped = true;
    this.#stop();
  }

  /** Looks once; a run that takes longer than the interval lets the next ones pass. Never rejects. */
  async run(): Promise<void> {
    const { enabled, listens } = this.#options;
    if (!(enabled || listens) || this.#running || this.#stopped) return;
    this.#running = true;
    try {
      const known = await this.#look();
      if (this.#stopped || isDeepStrictEqual(known, this.#known)) return;
      this.#known = known;
      this.#options.tell(known);
    } finally {
      this.#running = false;
    }
  }

  async #look(): Promise<TailnetKnown> {
    const { program, enabled, clock } = this.#options;
    const socket = await program.findSocket();
    const { source: socket_source, default_socket_refused } = socket;
    const dial = { socket_source, ...(default_socket_refused && { default_socket_refused }) };
    const before = tailnetBefore(this.#options).discovery;
    let via = socket.path === null ? null : 'localapi';
    const unavailable = (why: string): TailnetKnown => {
      this.#found = [];
      // Asked again as soon as it is back.
      this.#asked_at = Number.NEGATIVE_INFINITY;
      const discovery = {
        ...before,
        state: 'unavailable' as const,
        via,
        error: why,
        last_run_at: clock.now(),
      };
      const view = {
        tailnet_dial: { status: 'unavailable', ...dial, error: why },
        discovery: enabled ? discovery : before,
      };
      return { view, network: null };
    };
    try {
      const document = await (socket.path === null ? program.askByCommand() : program.askStatus(socket.path));
      if (document === null && socket.path === null) return unavailable(socket.fault);
      via ??= 'cli';
      const status = parseStatus(document);
      const discovery = enabled ? await this.#discover(status, socket.path, via) : before;
      const { id, user_id, dns_name, addresses, is_tagged } = status.self;
      const self = { id, user_id, dns_name, addresses, is_tagged };
      return {
        view: { tailnet_dial: { status: 'available', ...dial }, discovery },
        network:
          socket.path === null ? null : { socket: socket.path, has_interface: status.has_interface, self },
      };
    } catch (error) {
      return unavailable(messageOf(error));
    }
  }

  /** Asks the machines where the interval has passed, else tells what is known. */
  async #discover(status: TailnetStatus, socket: string | null, via: string): Promise<Discovery> {
    const { host, clock, logger, interval_ms } = this.#options;
    const last_run_at = clock.now();
    if (last_run_at >= this.#asked_at && last_run_at - this.#asked_at < interval_ms)
      return this.#known.view.discovery;
    this.#asked_at = last_run_at;
    const all = nodesToAsk(status);
    if (all.length > MOST_NODES)
      logger.warn({ machines: all.length, asked: MOST_NODES }, 'not every machine of this user is asked');
    const nodes = all.slice(0, MOST_NODES);
    const ask = (node: AskedNode) => this.#ask(node, status, socket);
    const { found, rejected } = await askNodes({ host, nodes, ask });
    this.#found = found.map((one) => this.#hostOf(one));
    const peers = this.#found.map(({ node, told, url, seen_at }) => ({
      ...{ name: told.host, url, dns_name: node.dns_name, last_seen_at: seen_at },
    }));
    return { enabled: true, state: 'ok', via, error: null, last_run_at, peers, rejected };
  }

  #hostOf(daemon: FoundDaemon): DiscoveredHost {
    return { ...daemon, url: urlOf(daemon.node, this.#options.port), seen_at: this.#options.clock.now() };
  }

  #ask(node: AskedNode, { has_interface }: TailnetStatus, socket: string | null) {
    const { port, host } = this.#options;
    const through = has_interface || socket === null ? null : socket;
    const to = { host: node.address, port };
    return requestBytes({
      to: {
        url: urlOf(node, port),
        ...(through !== null && { connect: () => dialThrough(through, to) }),
      },
      method: 'GET',
      path: '/api/v1/version',
      headers: { [HOPS_HEADER]: host },
      deadline_ms: ANSWER_MS,
      most_bytes: MOST_ANSWER_BYTES,
    });
  }
}

/** What is told before it has been looked for the first time, and always where it is not looked for. */
export function tailnetBefore({ enabled, listens }: { enabled: boolean; listens: boolean }): TailnetView {
  const state = enabled ? 'pending' : 'disabled';
  return {
    tailnet_dial: { status: enabled || listens ? 'pending' : 'disabled', socket_source: 'none' },
    discovery: { enabled, state, via: null, error: null, last_run_at: null, ...NOTHING },
  };
}
