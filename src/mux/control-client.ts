import { randomBytes } from 'node:crypto';
import { type BackoffPolicy, backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import type { Logger } from '../base/logger.ts';
import { runForRequest } from '../base/request-scope.ts';
import type { PipedProcess } from '../platform/piped-process.ts';
import { controlLine, printMark, type TmuxCommand } from './command.ts';
import { type ControlEvent, ControlParser } from './control-protocol.ts';

/** The result of a sequence of commands. */
export type ControlReply =
  | { kind: 'done'; lines: string[] }
  /** The error message of tmux for the command that failed; the rest of the sequence was not run. */
  | { kind: 'refused'; message: string }
  /** No connection: nothing was sent, so the caller may use another way. */
  | { kind: 'not_sent' }
  /** The connection ended before the answer: the commands may have been carried out. */
  | { kind: 'lost' }
  /** The server did not answer within the deadline: the commands may be carried out later. */
  | { kind: 'silent' };

export type ControlClientOptions = {
  /** Runs a connection attempt while no command of ours changes sessions; see `control-safety.ts`. */
  alone(attempt: () => Promise<void>): Promise<void>;
  /**
   * Makes sure that there is a session to attach to. `not_now` (no server, or none that is safe to attach to) ends the
   * attempts. After `silent` there is another attempt later: no client is started for a server that does not answer.
   */
  prepare(): Promise<'ready' | 'not_now' | 'silent'>;
  spawn(): PipedProcess;
  clock: Clock;
  logger: Logger;
  /** Timeout of one request, and of the attach, in milliseconds. */
  deadline_ms: number;
  backoff: BackoffPolicy;
  /** The list of sessions may have changed: tmux said so, or the connection came or went. */
  onChange(): void;
};

type Waiting = {
  mark: string;
  lines: string[];
  refused: string | null;
  answer: Deferred<ControlReply>;
  cancelDeadline: () => void;
};

type Connection = {
  process: PipedProcess;
  parser: ControlParser;
  attached: boolean;
  waiting: Waiting[];
  cancelDeadline: () => void;
  gone: Deferred<void>;
};

const MOST_WAITING = 1_000;

/**
 * One persistent control-mode client (`tmux -C attach-session`) that reconnects with backoff.
 *
 * Each request is followed by a command that prints a fresh random mark: the reply is everything before the mark. So an
 * answer can never be matched to the wrong request, whatever number of blocks a command prints and whatever text a
 * worker's screen shows.
 */
export class ControlClient {
  readonly #options: ControlClientOptions;
  #connection: Connection | null = null;
  #connecting: Promise<void> | null = null;
  #cancelRetry: (() => void) | null = null;
  #failures = 0;
  #stopped = false;

  constructor(options: ControlClientOptions) {
    this.#options = options;
  }

  get attached(): boolean {
    return this.#connection?.attached === true;
  }

  /** Process id of the tmux client in use, for tests and diagnosis. */
  get pid(): number | undefined {
    return this.#connection?.process.pid;
  }

  /** Connects if not connected or connecting; resolves when attached or when this attempt failed. */
  connect(): Promise<void> {
    if (this.#stopped || this.attached) return Promise.resolve();
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    // The connection outlives the request that may have asked for it.
    this.#connecting ??= runForRequest(undefined, () =>
      this.#options.alone(() => this.#tryConnect()),
    ).finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  /** Sends one sequence and resolves to its output. Throws only for text that the command builder refuses. */
  request(...commands: readonly TmuxCommand[]): Promise<ControlReply> {
    const mark = randomBytes(12).toString('hex');
    const text = `${controlLine(...commands)}\n${controlLine(printMark(mark))}\n`;
    const connection = this.#connection;
    if (connection === null || !connection.attached || connection.waiting.length >= MOST_WAITING) {
      return Promise.resolve({ kind: 'not_sent' });
    }
    if (!connection.process.write(text)) return Promise.resolve({ kind: 'not_sent' });
    const waiting: Waiting = {
      mark,
      lines: [],
      refused: null,
      answer: createDeferred(),
      cancelDeadline: this.#options.clock.after(this.#options.deadline_ms, () => {
        waiting.answer.resolve({ kind: 'silent' });
        this.#drop(connection, 'the tmux server did not answer in time');
      }),
    };
    connection.waiting.push(waiting);
    return waiting.answer.promise;
  }

  /** Detaches for good; resolves when the client process has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    const connection = this.#connection;
    if (connection !== null) {
      connection.process.end();
      const cancel = this.#options.clock.after(500, () => connection.process.kill());
      await connection.gone.promise;
      cancel();
    }
    // An attempt in progress may be making the anchor session, which the caller is about to end.
    await this.#connecting?.catch(() => undefined);
  }

  async #tryConnect(): Promise<void> {
    if (this.#stopped) return;
    const server = await this.#options.prepare();
    if (server === 'silent') this.#retryLater('the tmux server does not answer');
    if (server !== 'ready' || this.#stopped) return;
    const settled = createDeferred<void>();
    const connection: Connection = {
      process: this.#options.spawn(),
      parser: new ControlParser(),
      attached: false,
      waiting: [],
      cancelDeadline: this.#options.clock.after(this.#options.deadline_ms, () =>
        this.#drop(connection, 'the tmux server did not let us attach in time'),
      ),
      gone: createDeferred(),
    };
    this.#connection = connection;
    connection.process.onStdout((chunk) => {
      for (const event of connection.parser.push(chunk)) {
        if (this.#connection !== connection) return;
        this.#take(connection, event);
        if (connection.attached) settled.resolve();
      }
    });
    connection.process.onExit((detail) => {
      this.#lose(connection, detail);
      connection.gone.resolve();
      settled.resolve();
    });
    await settled.promise;
  }

  #take(connection: Connection, event: ControlEvent): void {
    if (event.kind === 'overflow') {
      this.#drop(connection, 'the tmux server sent more than the limit');
    } else if (event.kind === 'notification') {
      this.#notified(connection, event.name);
    } else if (event.kind === 'reply') {
      this.#answered(connection, event.ok, event.lines);
    }
  }

  #notified(connection: Connection, name: string): void {
    if (name === 'session-changed' && !connection.attached) {
      connection.attached = true;
      connection.cancelDeadline();
      this.#failures = 0;
      this.#options.onChange();
    } else if (name === 'sessions-changed' || name === 'session-renamed') {
      this.#options.onChange();
    }
  }

  #answered(connection: Connection, ok: boolean, lines: string[]): void {
    const waiting = connection.waiting[0];
    if (waiting === undefined) return;
    if (ok && lines.length === 1 && lines[0] === waiting.mark) {
      connection.waiting.shift();
      waiting.cancelDeadline();
      waiting.answer.resolve(
        waiting.refused === null
          ? { kind: 'done', lines: waiting.lines }
          : { kind: 'refused', message: waiting.refused },
      );
    } else if (ok) {
      waiting.lines.push(...lines);
    } else {
      waiting.refused ??= lines.join(' ');
    }
  }

  /** Drops a faulty connection: its process is ended and a retry is scheduled. */
  #drop(connection: Connection, detail: string): void {
    connection.process.kill();
    this.#lose(connection, detail);
  }

  #lose(connection: Connection, detail: string): void {
    connection.cancelDeadline();
    if (this.#connection !== connection) return;
    this.#connection = null;
    for (const waiting of connection.waiting) {
      waiting.cancelDeadline();
      waiting.answer.resolve({ kind: 'lost' });
    }
    if (this.#stopped) return;
    this.#retryLater(detail);
    this.#options.onChange();
  }

  #retryLater(detail: string): void {
    if (this.#stopped) return;
    this.#failures += 1;
    const wait = backoffDelay(this.#options.backoff, this.#failures);
    this.#options.logger.debug({ detail, retry_in_ms: wait }, 'no tmux control client');
    this.#cancelRetry?.();
    this.#cancelRetry = this.#options.clock.after(wait, () => {
      this.#cancelRetry = null;
      this.connect().catch((error) =>
        this.#options.logger.warn({ err: error }, 'tmux control client failed'),
      );
    });
  }
}
