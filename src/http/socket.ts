import type { z } from 'zod';
import type { RequestView } from './request-view.ts';

/** One open WebSocket as its row's `open` sees it. */
export type Socket = {
  /**
   * Sends a message: as text where the row's `sends` is a schema, else as binary. The same bytes may be sent to many
   * sockets and must not change. Does nothing once the socket is closed.
   */
  send(message: Uint8Array): void;
  /** Bytes that wait for the client to take them. */
  readonly unsent: number;
  /** Closes with this code. The client sees the reason, cut to 123 bytes. */
  close(code: number, reason: string): void;
};

/** What a row wants to hear of a socket that it opened. Nothing is called after `closed`. */
export type SocketHandler<T = unknown> = {
  /** A message of the client that passed `takes`; bytes are lent for the call. What it throws closes the socket. */
  message?(value: T): void;
  /** The client has taken everything that was sent. */
  drained?(): void;
  closed?(): void;
};

/** What a row says of the WebSockets that it upgrades to, but for who serves them. */
export type SocketRules = {
  /** Shape of each message to the client, which is JSON text; or binary messages. */
  sends: z.ZodType | 'bytes';
  /**
   * Messages of the client: JSON text of this shape, or binary messages, of at most so many bytes. Null: a client that
   * sends any is closed with 1008.
   */
  takes: { message: z.ZodType | 'bytes'; most_bytes: number } | null;
  /** Bytes that may wait for one client to take them; a client with more is cut off. */
  unsent_bytes: number;
  /** Sockets of this row that may be open at one time; one more is answered 503 `too_many_connections`. */
  most: number;
};

export type SocketRow = SocketRules & {
  /** Called once for each upgrade, before any message is heard. What it throws closes the socket with 1011. */
  open(socket: Socket, request: RequestView): SocketHandler;
};

/** One upgraded connection, as a transport gives it. Nothing may be called after `closed` was heard. */
export type Wire = {
  send(message: Uint8Array, binary: boolean): void;
  /** Bytes that the system has not taken yet. */
  buffered(): number;
  ping(): void;
  /** Begins the closing handshake; `reason` has at most 123 bytes. */
  end(code: number, reason: string): void;
  /** Ends the connection at once. */
  cut(): void;
};

/** What a transport tells of a wire. A message is lent for the call. */
export type WireListener = {
  /** The first, in the turn of the upgrade. */
  opened(): void;
  message(data: Uint8Array, binary: boolean): void;
  pong(): void;
  /** `buffered` is 0 again. */
  drained(): void;
  closed(): void;
};
