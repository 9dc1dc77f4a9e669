import type { TemplatedApp } from 'uWebSockets.js';
import { chmod, unlink } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import type { AccessPolicy } from '../access/decide-access.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type PeerCredentials, systemPeerCredentials, UNKNOWN_PEERS } from '../platform/peer-credentials.ts';
import type { PeerLookup } from '../platform/peer-credentials-lsof.ts';
import type { PeerGateView } from '../platform/peer-verdict.ts';
import type { AnsweredRequest } from './answering.ts';
import { explainBindFailure } from './bind-failure.ts';
import type { ForwarderOptions } from './forwarder.ts';
import { formatTcpAddress, type LoopbackHost, parseListenAddress } from './listen-address.ts';
import { HeldPeerGate, PeerGate } from './peer-gate.ts';
import { RequestHandling } from './request-handling.ts';
import type { Route } from './routing.ts';
import type { Row } from './row.ts';
import type { Binding, Listener, ServerKind, Transport } from './transport.ts';
import { loadTransport } from './transport-choice.ts';
import { freeSocketPath } from './unix-socket-path.ts';

export type HttpLimits = {
  /** Requests that may wait for an answer at one time. */
  pending_requests: number;
  /** Milliseconds that `stop` waits for requests that are still being answered. */
  drain_ms: number;
  /** Bytes that the longer bodies of all requests that are not answered yet may have together. */
  body_bytes: number;
  /** Bytes that may have been read ahead of all clients that are being sent a content. */
  read_ahead_bytes: number;
  /** Bytes of all other answers that may wait for their clients to take them. */
  unsent_bytes: number;
  /** Open-ended answers that may be sent at one time. */
  streams: number;
  /** Milliseconds that a client may take nothing for while there is something to take; then it is cut off. */
  stall_ms: number;
  /** Requests that one other host, and all of them together, may have to answer at one time. */
  forwards_of_one_host: number;
  forwards: number;
  /** Milliseconds that the rest of another host's answer may be waited for; what comes wins time. */
  relay_wait_ms: number;
  /** Milliseconds between two pings of a WebSocket; after three without an answer it is cut off. */
  ping_ms: number;
};

const MIB = 1024 * 1024;
const DEFAULT_LIMITS: HttpLimits = {
  pending_requests: 4_096,
  drain_ms: 3_000,
  // Two of the largest bodies that a route takes, and room for some hundred documents.
  body_bytes: 160 * MIB,
  read_ahead_bytes: 32 * MIB,
  unsent_bytes: 128 * MIB,
  streams: 256,
  stall_ms: 30_000,
  forwards_of_one_host: 64,
  forwards: 1_024,
  relay_wait_ms: 30_000,
  ping_ms: 20_000,
};

export type HttpServerOptions = {
  /** The id of this host, as other daemons are told it. */
  host: string;
  routes: readonly Row[];
  access: AccessPolicy;
  /** The 503 body while the daemon boots; null once it is ready (RDY-1). */
  booting: () => Readonly<Record<string, unknown>> | null;
  /** Decides which daemon answers a request that names a host. */
  route: Route;
  limits?: Partial<HttpLimits>;
  /** Told of every request that was given an answer; must not throw. */
  observe?: (request: AnsweredRequest) => void;
  /** Which server speaks HTTP; unless given, the native one where it can be loaded. */
  http?: ServerKind | 'auto';
  /** Told how each request went that was passed on to another host; see `ForwarderOptions`. */
  observeForward?: ForwarderOptions['observeForward'];
  /** Who tells the users of TCP peers (AUT-2); the system itself unless given. */
  peers?: PeerCredentials;
  logger: Logger;
  clock: Clock;
};

export type HttpServer = {
  /**
   * Binds one more address (see `parseListenAddress`) and resolves to what was bound, e.g.
   * `['127.0.0.1:4000', '[::1]:4000']`. Throws `address_in_use` naming the holder, or `invalid_config`.
   */
  listen(address: string): Promise<string[]>;
  /**
   * Listens where other machines reach this one, on Node's own transport whatever the others use: only it knows both ends
   * of a connection. `lookup` decides about each before anything of it is read, and `names` are those that requests may
   * call this machine by. Throws as `listen` does.
   */
  listenPrivately(place: {
    host: string;
    port: number;
    names: readonly string[];
    lookup: Pick<PeerLookup, 'lookUp'>;
  }): Promise<PrivateListening>;
  /** Everything bound so far, in order. */
  addresses(): string[];
  /** Which server speaks HTTP; null until something is bound. */
  kind(): ServerKind | null;
  /** How peers are told apart on what is bound (OPR-1). */
  peerGate(): PeerGateView;
  /** Stops accepting, lets pending requests finish within the drain limit, closes every connection. */
  stop(): Promise<void>;
};

/** One private address that is bound. */
export type PrivateListening = { address: string; close(): Promise<void> };

/** What one bound socket needs to be closed again. */
type Bound = { listener: Listener; address: string; path: string | null };

/** Times a free port is chosen again because its twin on the other IP version was taken. */
const FREE_PORT_TRIES = 20;

/** The HTTP server of the daemon; binds nothing until `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new Server(options);
}

class Server implements HttpServer {
  #limits: HttpLimits;
  #clock: Clock;
  #logger: Logger;
  #handling: RequestHandling;
  #peers: PeerCredentials;
  /** Null where nobody tells the users of peers. */
  #gate: PeerGate | null;
  /** Null unless a look at who dialled takes a while. */
  #held_gate: HeldPeerGate | null;
  #transport: Promise<Transport> | null = null;
  #kind: ServerKind | null = null;
  #wanted: ServerKind | 'auto';
  #bound: Bound[] = [];
  /** What other machines reach this one by; it has a gate of its own. */
  readonly #private = new Set<Pick<Listener, 'refuseMore' | 'close'>>();
  #stopped: Promise<void> | null = null;

  constructor(options: HttpServerOptions) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#wanted = options.http ?? 'auto';
    const { host, routes, access, booting, route, logger, clock, observe, observeForward } = options;
    const limits = this.#limits;
    const peers = options.peers ?? systemPeerCredentials();
    const gate = 'judge' in peers ? new PeerGate({ credentials: peers, logger, clock }) : null;
    this.#peers = peers;
    this.#gate = gate;
    this.#held_gate = 'lookUp' in peers ? new HeldPeerGate({ lookup: peers, logger, clock }) : null;
    this.#handling = new RequestHandling({
      ...{ host, routes, access, booting, route, limits, logger, clock },
      ...(observe !== undefined && { observe }),
      ...(observeForward !== undefined && { observeForward }),
      settlePeers: gate === null ? () => undefined : () => gate.settle(),
    });
  }

  async listen(text: string): Promise<string[]> {
    const address = parseListenAddress(text);
    const transport = await this.#load();
    const bound =
      address.kind === 'unix'
        ? [await this.#listenUnix(transport, address.path)]
        : await this.#listenTcp(transport, address.hosts, address.port);
    this.#bound.push(...bound);
    if (address.kind === 'tcp' && this.#tcpView().mode === 'none') {
      const what =
        this.#held_gate === null
          ? 'any user of this machine may connect: the system does not tell who does'
          : 'any user of this machine may connect: only Node’s own server can hold them back here (SVC_HTTP=node)';
      this.#logger.warn({ listen: bound.map((entry) => entry.address) }, what);
    }
    return bound.map((entry) => entry.address);
  }

  async listenPrivately({
    host,
    port,
    names,
    lookup,
  }: Parameters<HttpServer['listenPrivately']>[0]): Promise<PrivateListening> {
    if (this.#stopped !== null) throw new CodedError('component_unavailable', 'the server stops');
    const { createTransport } = await import('./node-transport.ts');
    const gate = new HeldPeerGate({ lookup, logger: this.#logger, clock: this.#clock });
    const listener = await createTransport(this.#handling).listenTcp(host, port, {
      peer: { kind: 'own_machine', names },
      onConnection: null,
      hold: (response, ends) => gate.hold(response, ends),
    });
    if (listener === null) {
      const address = formatTcpAddress(host, port);
      const reason = await explainBindFailure(host, port);
      throw reason ?? new CodedError('address_in_use', `${address} was taken by another process; try again`);
    }
    const closing = {
      refuseMore: () => listener.refuseMore(),
      async close() {
        gate.stop();
        await listener.close();
      },
    };
    this.#private.add(closing);
    return {
      address: formatTcpAddress(host, listener.port),
      close: async () => {
        this.#private.delete(closing);
        closing.refuseMore();
        await closing.close();
      },
    };
  }

  addresses(): string[] {
    return this.#bound.map((entry) => entry.address);
  }

  kind(): ServerKind | null {
    return this.#kind;
  }

  peerGate(): PeerGateView {
    const on_socket_alone = this.#bound.length > 0 && this.#bound.every(({ path }) => path !== null);
    if (!on_socket_alone) return this.#tcpView();
    return { mode: 'enforced', uid: process.geteuid?.() ?? null, source: 'unix_socket' };
  }

  /** Who is told apart on TCP by the server that was loaded. */
  #tcpView(): PeerGateView {
    return this.#held_gate !== null && this.#kind === 'uws' ? UNKNOWN_PEERS.view : this.#peers.view;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    for (const { listener } of this.#bound) listener.refuseMore();
    for (const listener of this.#private) listener.refuseMore();
    await Promise.all(this.#bound.map(({ path }) => path !== null && unlink(path).catch(() => undefined)));
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(this.#limits.drain_ms, resolve);
      this.#handling.drain().then(() => {
        cancel();
        resolve();
      });
    });
    this.#gate?.stop();
    this.#held_gate?.stop();
    await Promise.all(this.#bound.map(({ listener }) => listener.close()));
    await Promise.all([...this.#private].map((listener) => listener.close()));
  }

  async #load(): Promise<Transport> {
    // Where a look at who dialled takes a while, only Node's own server knows both ends and can hold a connection.
    const wanted = this.#wanted === 'auto' && this.#held_gate !== null ? 'node' : this.#wanted;
    this.#transport ??= loadTransport(wanted, {
      requests: this.#handling,
      clock: this.#clock,
      logger: this.#logger,
    });
    const transport = await this.#transport;
    this.#kind = transport.kind;
    return transport;
  }

  async #listenTcp(transport: Transport, hosts: readonly LoopbackHost[], port: number): Promise<Bound[]> {
    const wanted = hosts.filter((host) => host !== '::1' || hosts.length === 1 || hasLoopbackV6());
    for (let tries = 1; ; tries += 1) {
      const bound: Bound[] = [];
      for (const host of wanted) {
        const taken = await this.#bindTcp(transport, host, bound[0]?.listener.port ?? port);
        if (taken === null) break;
        bound.push(taken);
      }
      if (bound.length === wanted.length) return bound;
      await Promise.all(bound.map(({ listener }) => listener.close()));
      const failed = wanted[bound.length]!;
      if (port === 0 && bound.length > 0 && tries < FREE_PORT_TRIES) continue;
      const reason = await explainBindFailure(failed, port);
      if (reason !== null) throw reason;
      if (tries >= 2) {
        throw new CodedError(
          'address_in_use',
          `${formatTcpAddress(failed, port)} was taken by another process; try again`,
        );
      }
    }
  }

  async #bindTcp(transport: Transport, host: LoopbackHost, port: number): Promise<Bound | null> {
    let bound: Listener | null = null;
    const binding = this.#tcpBinding(transport.kind, host, () => bound?.port ?? port);
    bound = await transport.listenTcp(host, port, binding);
    return bound === null
      ? null
      : { listener: bound, address: formatTcpAddress(host, bound.port), path: null };
  }

  async #listenUnix(transport: Transport, path: string): Promise<Bound> {
    await freeSocketPath(path);
    const listener = await transport.listenUnix(path, { peer: { kind: 'unix_socket' }, onConnection: null });
    if (listener === null) {
      throw new CodedError(
        'invalid_config',
        `cannot listen on unix:${path}; its folder must exist and be writable`,
      );
    }
    await chmod(path, 0o600);
    return { listener, address: `unix:${path}`, path };
  }

  #tcpBinding(kind: ServerKind, host: LoopbackHost, port: () => number): Binding {
    const [peers, gate, held_gate] = [this.#peers, this.#gate, this.#held_gate];
    if (held_gate !== null && kind === 'node') {
      const hold: Binding['hold'] = (response, ends) => held_gate.hold(response, ends);
      return { peer: { kind: 'own_uid' }, onConnection: null, hold };
    }
    if (gate === null || !('judge' in peers)) return { peer: { kind: 'unchecked' }, onConnection: null };
    const endpoint = () => peers.endpoint(host, port());
    return {
      peer: { kind: 'own_uid' },
      onConnection: (source) => gate.guard(source as TemplatedApp, endpoint),
    };
  }
}

/** True where this machine has `::1`; one without IPv6 is served on IPv4 alone. */
function hasLoopbackV6(): boolean {
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => entry.address === '::1'),
  );
}
