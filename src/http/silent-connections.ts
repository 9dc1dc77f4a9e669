import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Clock } from '../base/clock.ts';
import { errorBody } from './error-reply.ts';

/**
 * After this many milliseconds without a request, a connection is answered; the library closes it at ten seconds. Long
 * enough for a client on a busy machine, short enough for a person whose request lacks every header.
 */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 500;

type Silent = { response: HttpResponse; since: number };

/**
 * Connections over which no request has come yet. The library waits silently for the rest of a request that has no
 * Host, folds its headers or holds a NUL; here it is answered 408 before the library's own time is over.
 *
 * Nothing ties a request to its connection but this: the empty body that the library reports after each request
 * goes to whoever listens on the connection, which is the listener set when it was accepted. A connection that
 * closes tells its own listener too, unless a request has taken its place; then it is unknown which one has gone,
 * and all are forgotten, for what has gone must not be touched.
 */
export class SilentConnections {
  #clock: Clock;
  #silent = new Set<Silent>();
  /** Connections that have closed less those that are known. */
  #unknown = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `answered` tells whether the request that was taken last has been given its answer. */
  watch(app: TemplatedApp, answered: () => boolean): void {
    const counted = (response: HttpResponse, count: number | number) => {
      if (Number(count) > 0) this.#opened(response, answered);
      else this.#closed();
    };
    app.filter(counted);
  }

  /** A request is about to listen for its body in the place of whoever listened before. */
  forget(): void {
    this.#silent.clear();
  }

  stop(): void {
    this.#silent.clear();
    this.#cancel?.();
    this.#cancel = null;
  }

  #opened(response: HttpResponse, answered: () => boolean): void {
    const entry: Silent = { response, since: this.#clock.now() };
    this.#silent.add(entry);
    response.onData(() => {
      this.#silent.delete(entry);
      // To report a body, the library has stopped its clock for a connection that says nothing more; resumed, it
      // begins again. While the answer is awaited, there is no such limit.
      if (!answered()) return;
      response.pause();
      response.resume();
    });
    response.onAborted(() => {
      this.#silent.delete(entry);
      this.#unknown -= 1;
    });
    this.#cancel ??= this.#clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  #closed(): void {
    this.#unknown += 1;
    if (this.#unknown === 1) queueMicrotask(() => this.#doubt());
  }

  #doubt(): void {
    if (this.#unknown > 0) this.#silent.clear();
    this.#unknown = 0;
  }

  #look(): void {
    this.#doubt();
    const until = this.#clock.now() - PATIENCE_MS;
    for (const entry of [...this.#silent]) {
      if (entry.since > until) continue;
      this.#silent.delete(entry);
      answer(entry.response);
      // An answer that closes its connection has taken the listener away before.
      this.#unknown = 0;
    }
    if (this.#silent.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }
}

function answer(response: HttpResponse): void {
  const message =
    'No whole request came in time; a request line, one Host header and an empty line are needed at least.';
  response.cork(() => {
    response.writeStatus('408 Request Timeout');
    response.writeHeader('Content-Type', 'application/json');
    response.writeHeader('X-Content-Type-Options', 'nosniff');
    response.writeHeader('Cache-Control', 'no-store');
    response.end(errorBody('request_timeout', message), true);
  });
}
