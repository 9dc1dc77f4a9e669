import type { Clock } from '../base/clock.ts';
import { jsonOf } from '../base/json-text.ts';
import type { Logger } from '../base/logger.ts';
import { runForRequest } from '../base/request-scope.ts';
import { readInput, sentenceOfFault } from '../contract/read-input.ts';
import type { RequestView } from './request-view.ts';
import type { Socket, SocketHandler, SocketRow, SocketRules, Wire, WireListener } from './socket.ts';

/** Pings without any answer after which a client is taken for dead. */
const MOST_UNANSWERED = 3;
/** Bytes of the reason in a close frame; RFC 6455 allows no more. */
const REASON_BYTES = 123;

type OpenSocketsOptions = {
  clock: Clock;
  logger: Logger;
  /** Milliseconds between two pings. */
  ping_ms: number;
};

/** Every open WebSocket of a server: counts them by row, pings them, and closes them when the server stops. */
export class OpenSockets {
  readonly #options: OpenSocketsOptions;
  readonly #open = new Map<SocketRules, Set<OpenSocket>>();
  #cancel: (() => void) | null = null;
  #whenEmpty: (() => void) | null = null;

  constructor(options: OpenSocketsOptions) {
    this.#options = options;
  }

  /** True while one more socket of these rules may be opened. */
  hasRoom(rules: SocketRules): boolean {
    return (this.#open.get(rules)?.size ?? 0) < rules.most;
  }

  /** Takes over a connection that was upgraded for this row; those of the same `rules` are counted together. */
  opened(row: SocketRow, request: RequestView, wire: Wire, rules: SocketRules = row): WireListener {
    const { clock, logger, ping_ms } = this.#options;
    const sockets = this.#open.get(rules) ?? new Set();
    this.#open.set(rules, sockets);
    const socket = new OpenSocket({
      row,
      wire,
      request,
      fault: (err) => logger.error({ err, request_id: request.id }, 'a WebSocket failed'),
      forget: () => {
        sockets.delete(socket);
        if (sockets.size === 0) this.#forget(rules);
      },
    });
    sockets.add(socket);
    const ping = () => {
      for (const one of this.#all()) one.ping();
    };
    // It outlives the request that brought the first socket.
    this.#cancel ??= runForRequest(undefined, () => clock.every(ping_ms, ping));
    return socket;
  }

  /** Closes every socket; resolves when all of them are closed. */
  closeAll(code: number, reason: string): Promise<void> {
    for (const socket of this.#all()) socket.close(code, reason);
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  #all(): OpenSocket[] {
    return [...this.#open.values()].flatMap((sockets) => [...sockets]);
  }

  #forget(rules: SocketRules): void {
    this.#open.delete(rules);
    if (this.#open.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
    this.#whenEmpty?.();
  }
}

class OpenSocket implements Socket, WireListener {
  readonly #row: SocketRow;
  readonly #wire: Wire;
  readonly #request: RequestView;
  readonly #fault: (error: unknown) => void;
  readonly #forget: () => void;
  #handler: SocketHandler = {};
  #unanswered = 0;
  /** True once the closing handshake has begun here. */
  #ending = false;
  #closed = false;

  constructor(options: {
    row: SocketRow;
    wire: Wire;
    request: RequestView;
    fault(error: unknown): void;
    forget(): void;
  }) {
    this.#row = options.row;
    this.#wire = options.wire;
    this.#request = options.request;
    this.#fault = options.fault;
    this.#forget = options.forget;
  }

  opened(): void {
    this.#try(() => {
      this.#handler = this.#row.open(this, this.#request);
    });
    // `open` may have closed it.
    if (this.#closed) this.#handler.closed?.();
  }

  get unsent(): number {
    return this.#closed ? 0 : this.#wire.buffered();
  }

  send(message: Uint8Array): void {
    if (this.#closed || this.#ending) return;
    this.#wire.send(message, this.#row.sends === 'bytes');
    if (this.unsent > this.#row.unsent_bytes) this.#wire.cut();
  }

  close(code: number, reason: string): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    this.#wire.end(code, cutToBytes(reason, REASON_BYTES));
  }

  ping(): void {
    if (this.#unanswered >= MOST_UNANSWERED) this.#wire.cut();
    else {
      this.#unanswered += 1;
      this.#wire.ping();
    }
  }

  message(data: Uint8Array, binary: boolean): void {
    this.#unanswered = 0;
    if (this.#closed || this.#ending) return;
    const { takes } = this.#row;
    if (takes === null) this.close(1008, 'This WebSocket takes no messages; it only sends.');
    else if (data.length > takes.most_bytes)
      this.close(1009, `A message may have ${takes.most_bytes} bytes at most.`);
    else if (takes.message === 'bytes') {
      if (binary) this.#hear(data);
      else this.close(1003, 'Messages must be binary.');
    } else if (binary) this.close(1003, 'Messages must be JSON text.');
    else {
      const read = readInput(takes.message, jsonOf(new TextDecoder().decode(data)));
      if (read.success) this.#hear(read.data);
      else this.close(1008, `${sentenceOfFault(read.faults[0], 'The message')}.`);
    }
  }

  pong(): void {
    this.#unanswered = 0;
  }

  drained(): void {
    if (!this.#closed) this.#try(() => this.#handler.drained?.());
  }

  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget();
    this.#try(() => this.#handler.closed?.());
  }

  #hear(value: unknown): void {
    this.#try(() => this.#handler.message?.(value));
  }

  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fault(error);
      this.close(1011, 'The daemon failed; its log has the error.');
    }
  }
}

/** The beginning of a text that has at most `most` bytes, cut between two characters. */
function cutToBytes(text: string, most: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}
