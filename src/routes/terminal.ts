import { messageOf } from '../base/errors.ts';
import {
  type TerminalMessage,
  terminalMessageSchema,
  terminalQuerySchema,
} from '../contract/http/terminal.ts';
import type { WorkerScreen, WorkerScreenMark } from '../contract/threads/worker-screen.ts';
import { BudgetShare, MemoryBudget } from '../http/memory-budget.ts';
import { defineSocketRow, type Row } from '../http/row.ts';
import type { Socket, SocketHandler } from '../http/socket.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { ScreenCopy } from './screen-copy.ts';

/** Clients that may be connected at one time. */
const MOST_VIEWERS = 64;
/** Bytes that may wait for all clients together; above it, one is told the newest screen once there is room. */
const ALL_UNSENT_BYTES = 16 * 1024 * 1024;
/** More than the longest message. */
const UNSENT_BYTES = 2 * 1024 * 1024;
/** Lines above the visible screen that a client is told at first. */
const HISTORY = 500;
/** Lines above the visible screen that are read with each change, in case the screen has scrolled. */
const SCROLLED = 60;
/** Milliseconds between two questions about one screen, and what each further screen adds to them. */
const EVERY = { cheap: { ms: 250, each_ms: 15 }, costly: { ms: 600, each_ms: 60 } } as const;
/** Milliseconds until tmux is asked again that did not answer. */
const AFTER_SILENCE_MS = 1_000;

const REFUSED = 4404;
const ENDED = 4410;

type Asked = Pick<Callers, 'poller'>;

/** `GET /terminal`: a WebSocket that tells what a worker's terminal shows. */
export function terminalRows({ poller }: Asked, { clock }: Pick<RouteContext, 'clock'>): Row[] {
  const budget = new MemoryBudget(ALL_UNSENT_BYTES);
  const screens = new Map<string, WatchedScreen>();
  return [
    defineSocketRow({
      path: '/api/v1/terminal',
      summary: 'Tells what the terminal of a worker shows, as it changes',
      example: { query: 'session=say-hello-01k00000000000000000000000-svc' },
      page: 'live.md',
      routing: 'host',
      state: 'ready',
      query: terminalQuerySchema,
      socket: {
        sends: terminalMessageSchema,
        takes: null,
        most: MOST_VIEWERS,
        unsent_bytes: UNSENT_BYTES,
        open(socket, request) {
          const { session } = terminalQuerySchema.parse(request.query);
          const screen =
            screens.get(session) ??
            new WatchedScreen({
              session,
              poller,
              clock,
              others: () => screens.size - 1,
              forget: () => screens.delete(session),
            });
          screens.set(session, screen);
          return screen.join(socket, budget);
        },
      },
    }),
  ];
}

type WatchedOptions = Asked &
  Pick<RouteContext, 'clock'> & {
    session: string;
    /** How many other screens are watched. */
    others(): number;
    forget(): void;
  };

/** The screen of one worker, asked for while anybody looks, once for all of them. */
class WatchedScreen {
  readonly #options: WatchedOptions;
  readonly #viewers = new Set<Viewer>();
  readonly #copy = new ScreenCopy();
  #mark: WorkerScreenMark | null = null;
  /** True once the worker was there. */
  #known = false;
  #over = false;
  #cancel: () => void = () => undefined;

  constructor(options: WatchedOptions) {
    this.#options = options;
    void this.#ask();
  }

  join(socket: Socket, budget: MemoryBudget): SocketHandler {
    const viewer = new Viewer(socket, this.#copy, budget, () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size === 0) this.#stop();
    });
    this.#viewers.add(viewer);
    viewer.update();
    return viewer;
  }

  #stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel();
    this.#options.forget();
  }

  async #ask(): Promise<void> {
    const { poller, session, clock } = this.#options;
    const history = this.#mark === null ? HISTORY : SCROLLED;
    let wait = AFTER_SILENCE_MS;
    try {
      const { value, bulk } = await poller.exchange('worker_screen', {
        ...{ mux_session: session, history, since: this.#mark },
      });
      if (this.#over) return;
      if (value.kind === 'no_worker') {
        this.#end();
        return;
      }
      this.#known = true;
      wait = this.#hear(value, bulk);
    } catch (error) {
      if (this.#over) return;
      this.#goStale(messageOf(error));
    }
    for (const viewer of this.#viewers) viewer.update();
    this.#cancel = clock.after(wait, () => void this.#ask());
  }

  /** Takes an answer; tells how long to wait with the next question. */
  #hear(answer: Exclude<WorkerScreen, { kind: 'no_worker' }>, bulk: Uint8Array | null): number {
    if (answer.kind === 'unknown') {
      this.#goStale(`tmux does not answer: ${answer.detail}`);
      return AFTER_SILENCE_MS;
    }
    if (answer.kind === 'no_session') {
      this.#goStale('The worker has no terminal at this moment: it starts, or it ends.');
      return EVERY.costly.ms;
    }
    const { ms, each_ms } = answer.cheap ? EVERY.cheap : EVERY.costly;
    const wait = ms + each_ms * this.#options.others();
    if (answer.kind === 'same') {
      this.#copy.isCurrent();
      return wait;
    }
    const { mark, first } = answer;
    const lines = Buffer.from(bulk ?? new Uint8Array())
      .toString()
      .split('\n');
    const capture = { columns: mark.columns, history: mark.history, first, lines };
    const taken = this.#copy.take(capture, { whole: this.#mark === null });
    this.#mark = taken === 'taken' ? mark : null;
    return taken === 'taken' ? wait : 0;
  }

  #goStale(reason: string): void {
    this.#mark = null;
    this.#copy.goStale(reason);
  }

  #end(): void {
    const { session } = this.#options;
    const message: TerminalMessage = this.#known
      ? { state: 'ended', reason: 'The worker has ended.' }
      : {
          state: 'refused',
          reason: `No worker of this host has the session ${session}; GET /fibers lists those that run.`,
        };
    const viewers = [...this.#viewers];
    this.#stop();
    for (const viewer of viewers) viewer.end(message, this.#known ? ENDED : REFUSED);
  }
}

/** One reader, which has at most one message to take at a time: then it is told the newest screen. */
class Viewer implements SocketHandler {
  readonly #socket: Socket;
  readonly #copy: ScreenCopy;
  readonly #share: BudgetShare;
  readonly #left: () => void;
  #version = 0;

  constructor(socket: Socket, copy: ScreenCopy, budget: MemoryBudget, left: () => void) {
    this.#socket = socket;
    this.#copy = copy;
    this.#share = new BudgetShare(budget);
    this.#left = left;
  }

  update(): void {
    if (this.#socket.unsent > 0) return;
    this.#share.release();
    const message = this.#copy.since(this.#version);
    if (message === null || !this.#share.growTo(message.length)) return;
    this.#version = this.#copy.version;
    this.#socket.send(message);
    if (this.#socket.unsent === 0) this.#share.release();
  }

  end(message: TerminalMessage, code: number): void {
    this.#socket.send(Buffer.from(JSON.stringify(message)));
    this.#socket.close(code, message.state === 'screen' ? '' : message.reason);
  }

  drained(): void {
    this.update();
  }

  closed(): void {
    this.#share.release();
    this.#left();
  }
}
