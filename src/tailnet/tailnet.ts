import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { HOPS_HEADER } from '../contract/http/forwarding.ts';
import type { TailnetView } from '../contract/http/version.ts';
import { requestBytes } from '../platform/http-client.ts';
import { type AskedNode, askNodes, type FoundDaemon, MOST_NODES, nodesToAsk, urlOf } from './discover.ts';
import type { FoundSocket } from './find-socket.ts';
import { dialThrough } from './local-api.ts';
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
  enabled: boolean;
  interval_ms: number;
  /** Where daemons listen in the private network. */
  port: number;
  /** This host. */
  host: string;
  program: TailnetProgram;
  clock: Clock;
  logger: Logger;
  /** Told after every run. */
  tell(view: TailnetView): void;
};

const NOTHING = { peers: [], rejected: [] };

/**
 * Looks for daemons of this user in the private network, at the start and again each `interval_ms`. What it finds are
 * candidates: nothing is sent to them but `GET /version` until they are remotes.
 */
export class TailnetDiscovery {
  readonly #options: DiscoveryOptions;
  readonly #stop: () => void;
  #view: TailnetView;
  #found: DiscoveredHost[] = [];
  #running = false;
  #stopped = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    const { enabled, interval_ms, clock } = options;
    this.#view = tailnetBefore({ enabled });
    this.#stop = enabled ? clock.every(interval_ms, () => void this.run()) : () => {};
  }

  view(): TailnetView {
    return this.#view;
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
    if (!this.#options.enabled || this.#running || this.#stopped) return;
    this.#running = true;
    try {
      const view = await this.#look();
      if (this.#stopped) return;
      this.#view = view;
      this.#options.tell(view);
    } finally {
      this.#running = false;
    }
  }

  async #look(): Promise<TailnetView> {
    const { program, host, clock, logger } = this.#options;
    const socket = await program.findSocket();
    const { source: socket_source, default_socket_refused } = socket;
    const dial = { socket_source, ...(default_socket_refused && { default_socket_refused }) };
    const last_run_at = clock.now();
    let via = socket.path === null ? null : 'localapi';
    const unavailable = (why: string): TailnetView => {
      this.#found = [];
      return {
        tailnet_dial: { status: 'unavailable', ...dial, error: why },
        discovery: { enabled: true, state: 'unavailable', via, error: why, last_run_at, ...NOTHING },
      };
    };
    try {
      const document = await (socket.path === null ? program.askByCommand() : program.askStatus(socket.path));
      if (document === null && socket.path === null) return unavailable(socket.fault);
      via ??= 'cli';
      const status = parseStatus(document);
      const all = nodesToAsk(status);
      if (all.length > MOST_NODES)
        logger.warn({ machines: all.length, asked: MOST_NODES }, 'not every machine of this user is asked');
      const nodes = all.slice(0, MOST_NODES);
      const ask = (node: AskedNode) => this.#ask(node, status, socket.path);
      const { found, rejected } = await askNodes({ host, nodes, ask });
      this.#found = found.map((one) => this.#hostOf(one));
      const peers = this.#found.map(({ node, told, url, seen_at }) => ({
        ...{ name: told.host, url, dns_name: node.dns_name, last_seen_at: seen_at },
      }));
      return {
        tailnet_dial: { status: 'available', ...dial },
        discovery: { enabled: true, state: 'ok', via, error: null, last_run_at, peers, rejected },
      };
    } catch (error) {
      return unavailable(messageOf(error));
    }
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
export function tailnetBefore({ enabled }: { enabled: boolean }): TailnetView {
  const state = enabled ? 'pending' : 'disabled';
  return {
    tailnet_dial: { status: state, socket_source: 'none' },
    discovery: { enabled, state, via: null, error: null, last_run_at: null, ...NOTHING },
  };
}
