import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Peer } from '../access/decide-access.ts';
import type { ConnectionEnds } from '../platform/peer-credentials-lsof.ts';
import type { Exchange, Unsent } from './exchange.ts';
import type { RequestHead } from './request-head.ts';

/** Which server speaks HTTP: uWebSockets.js, or Node's own. */
export type ServerKind = 'uws' | 'node';

/** What a transport brings its requests to. */
export type RequestTaker = {
  /** The id of the next request. */
  nextId(): string;
  /** What all exchanges together hold for slow clients. */
  readonly unsent: Unsent;
  /** Bytes of the longest message that a WebSocket of any row takes, or of the longest control frame. */
  readonly longest_message: number;
  /** Bytes that may wait for a client of a WebSocket of any row. */
  readonly most_unsent: number;
  /** To be called once for each exchange that was taken, when it is complete or its client has gone. */
  readonly settled: () => void;
  /** Takes a request in the turn in which it arrived; `read` copies its head from `source`. */
  take<S>(exchange: Exchange, peer: Peer, read: (source: S) => RequestHead, source: S): void;
};

/** What new connections can be watched on; a connection that is closed here brings no request. */
export type ConnectionSource = Pick<TemplatedApp, 'filter'>;

export type Binding = {
  peer: Peer;
  /** Given the source before the first connection; null where connections are not looked at. */
  onConnection: ((source: ConnectionSource) => void) | null;
  /** Of a transport that knows both ends: nothing of a connection is read before this resolves, if it is still open. */
  hold?: (response: HttpResponse, ends: ConnectionEnds) => Promise<void>;
};

/** One bound socket. */
export type Listener = {
  /** 0 for a Unix socket. */
  readonly port: number;
  /** Accepts no further connection; those that are open stay. */
  refuseMore(): void;
  /** Closes every connection; resolves when every request over them has been told. */
  close(): Promise<void>;
};

/** What the kernel needs of an HTTP server. Both bind exclusively, and resolve to null where that fails. */
export type Transport = {
  readonly kind: ServerKind;
  listenTcp(host: string, port: number, binding: Binding): Promise<Listener | null>;
  listenUnix(path: string, binding: Binding): Promise<Listener | null>;
};
