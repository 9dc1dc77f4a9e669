import { z } from 'zod';
import { type BackoffPolicy, backoffDelay } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError, messageOf } from '../../base/errors.ts';
import type { AppServerAddress } from '../../config/app-server-address.ts';
import { connectTextSocket, type TextSocket } from './web-socket.ts';

/** Timeouts in milliseconds: of the connection with its handshake, and of one answer. */
const CONNECT_MS = 3_000;
const ANSWER_MS = 10_000;
const RETRY: BackoffPolicy = { first: 500, most: 10_000 };
/** Limit of pending requests. */
const MOST_WAITING = 256;

const messageSchema = z.object({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** The server understood the request and refused it; `message` is the server's own. */
export class AppServerRefusal extends Error {
  override name = 'AppServerRefusal';
  readonly method: string;

  constructor(method: string, message: string) {
    super(message);
    this.method = method;
  }
}

type Waiting = { method: string; resolve(result: unknown): void; reject(error: Error): void };

/**
 * The JSON-RPC connection to the operator's running app server. It connects at the first request and reconnects at a
 * request after a loss; it never starts a server. Every connection failure is a CodedError `app_server_unavailable`
 * whose `details.sent` says whether the server may have read the request.
 */
export class AppServerConnection {
  readonly #address: AppServerAddress;
  readonly #clock: Clock;
  readonly #onNotice: (method: string, params: unknown) => void;
  #open: Promise<TextSocket> | null = null;
  #socket: TextSocket | null = null;
  #waiting = new Map<number, Waiting>();
  #next_id = 1;
  #failures = 0;
  #not_before = 0;
  #last_failure = '';
  /** How the last open connection was lost; null while one is open. */
  #lost: string | null = null;
  #closed = false;

  constructor(options: {
    address: AppServerAddress;
    clock: Clock;
    /** Called for every notification, and with `connection/lost` when the connection is lost. */
    onNotice: (method: string, params: unknown) => void;
  }) {
    this.#address = options.address;
    this.#clock = options.clock;
    this.#onNotice = options.onNotice;
  }

  /** Sends a request; `at_once` skips the backoff after earlier failures. */
  async request(method: string, params: unknown, options: { at_once?: boolean } = {}): Promise<unknown> {
    const socket = await this.#connected(options.at_once === true);
    return this.#ask(socket, method, params);
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
  }

  #connected(at_once: boolean): Promise<TextSocket> {
    if (this.#closed) return Promise.reject(this.#unavailable('the connection was closed', false));
    if (this.#open !== null) return this.#open;
    if (!at_once && this.#clock.monotonic() < this.#not_before)
      return Promise.reject(this.#unavailable(this.#last_failure, false));
    this.#open = this.#connect().catch((error) => {
      this.#failed(messageOf(error));
      throw this.#unavailable(messageOf(error), false);
    });
    return this.#open;
  }

  async #connect(): Promise<TextSocket> {
    const socket = await connectTextSocket(
      this.#address,
      { onText: (text) => this.#onText(text), onClose: (reason) => this.#onClose(reason) },
      CONNECT_MS,
    );
    this.#socket = socket;
    try {
      await this.#ask(socket, 'initialize', {
        clientInfo: { name: 'svc', title: 'Fiber Dispatch', version: '1' },
        capabilities: { experimentalApi: true },
      });
      socket.send(JSON.stringify({ method: 'initialized' }));
    } catch (error) {
      socket.close();
      throw error;
    }
    this.#failures = 0;
    this.#not_before = 0;
    this.#lost = null;
    return socket;
  }

  #ask(socket: TextSocket, method: string, params: unknown): Promise<unknown> {
    if (this.#waiting.size >= MOST_WAITING)
      return Promise.reject(this.#unavailable(`${MOST_WAITING} requests wait for an answer`, false));
    const id = this.#next_id;
    this.#next_id += 1;
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ANSWER_MS, () => {
        this.#waiting.delete(id);
        reject(this.#unavailable(`it did not answer ${method} within ${ANSWER_MS / 1000} s`, true));
        // The next request uses a new connection.
        socket.close();
      });
      this.#waiting.set(id, {
        method,
        resolve: (result) => {
          cancel();
          resolve(result);
        },
        reject: (error) => {
          cancel();
          reject(error);
        },
      });
      try {
        socket.send(JSON.stringify({ id, method, params }));
      } catch (error) {
        this.#waiting.delete(id);
        cancel();
        reject(this.#unavailable(messageOf(error), true));
      }
    });
  }

  #onText(text: string): void {
    let parsed: z.infer<typeof messageSchema>;
    try {
      parsed = messageSchema.parse(JSON.parse(text));
    } catch {
      this.#socket?.close();
      return;
    }
    const { id, method, params, result, error } = parsed;
    if (method !== undefined) {
      // A message with an id is a request to the person at the app (an approval); we never answer those.
      if (id === undefined) this.#onNotice(method, params);
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(Number(id));
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new AppServerRefusal(waiting.method, error.message));
  }

  #onClose(reason: string): void {
    this.#open = null;
    this.#socket = null;
    if (!this.#closed) {
      this.#failed(reason);
      this.#lost ??= reason;
    }
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.reject(this.#unavailable(reason, true));
    this.#onNotice('connection/lost', null);
  }

  #failed(reason: string): void {
    this.#open = null;
    this.#failures += 1;
    this.#last_failure = reason;
    this.#not_before = this.#clock.monotonic() + backoffDelay(RETRY, this.#failures);
  }

  #unavailable(reason: string, sent: boolean): CodedError {
    const before = this.#lost === null || this.#lost === reason ? '' : `; before that, ${this.#lost}`;
    return new CodedError(
      'app_server_unavailable',
      `the app server at ${this.#address.text} is not available (${reason}${before}); start it, choose a configured remote host, or set svc.surface to cli`,
      { details: { sent } },
    );
  }
}
