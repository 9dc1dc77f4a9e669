import type { Clock } from '../base/clock.ts';
import { HOPS_HEADER } from '../contract/http/forwarding.ts';
import { type HttpBytes, KeptConnections, requestPaced } from '../platform/http-client.ts';
import { serverAt } from '../platform/own-socket.ts';
import { type LiveStream, openLiveStream, type StreamEvents, type StreamQuestion } from './live-stream.ts';
import { type Place, unanswered } from './read-remote.ts';

/** Milliseconds that the rest of an answer may take; received bytes extend it. */
const REST_MS = 10_000;
/** Most bytes of one answer: more than the feed of all fibers of one person. */
const MOST_FEED_BYTES = 32 * 1024 * 1024;
/** Of all answers under way; above it none of them may be larger than a small one. */
const ALL_FEEDS_BYTES = 96 * 1024 * 1024;
const SMALL_FEED_BYTES = 2 * 1024 * 1024;
/** Most requests that may wait for an answer at one time. */
const MOST_QUESTIONS = 64;

export type Question = {
  to: Place;
  path: string;
  if_none_match: string | null;
  /** Timeout until the answer has begun, in milliseconds. */
  timeout_ms: number;
  /** Uses a new connection instead of a kept one. */
  anew: boolean;
  signal: AbortSignal;
  /** Counts the received bytes, also those of a rejected answer. */
  meter: { bytes: number };
};

/** How the feeds of other hosts are followed. */
export type FeedTransport = {
  /** Rejects with a `CodedError` that names the host. */
  get(question: Question): Promise<HttpBytes>;
  /** Holds `GET /live` of a host. */
  open(question: StreamQuestion, on: StreamEvents): LiveStream;
};

/** Asks over kept connections, and bounds what all hosts together may cost. `host` is this host, which they are told. */
export class HttpTransport implements FeedTransport {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #kept = new KeptConnections();
  /** Bytes of the answers that are under way. */
  #held = 0;
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ host, clock }: { host: string; clock: Clock }) {
    this.#host = host;
    this.#clock = clock;
  }

  open(question: StreamQuestion, on: StreamEvents): LiveStream {
    return openLiveStream(question, on, this.#clock);
  }

  async get(question: Question): Promise<HttpBytes> {
    if (this.#open < MOST_QUESTIONS) this.#open += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const { meter } = question;
    let mine = 0;
    const takes = (bytes: number): boolean => {
      meter.bytes += bytes - mine;
      this.#held += bytes - mine;
      mine = bytes;
      if (bytes > MOST_FEED_BYTES) return false;
      return bytes <= SMALL_FEED_BYTES || this.#held <= ALL_FEEDS_BYTES;
    };
    try {
      return await this.#ask(question, takes);
    } finally {
      this.#held -= mine;
      const next = this.#waiting.shift();
      if (next === undefined) this.#open -= 1;
      else next();
    }
  }

  stop(): void {
    this.#kept.close();
  }

  async #ask(question: Question, takes: (bytes: number) => boolean): Promise<HttpBytes> {
    const { to, path, if_none_match, timeout_ms, anew, signal } = question;
    const server = await serverAt(to.address);
    const headers = {
      accept: 'application/json',
      [HOPS_HEADER]: this.#host,
      ...(if_none_match !== null && { 'if-none-match': if_none_match }),
    };
    const kept = anew ? null : this.#kept;
    const limits = { head_ms: timeout_ms, rest_ms: REST_MS, takes };
    return requestPaced({ to: server, path: `/api/v1${path}`, headers, kept, signal, ...limits }).catch(
      (error: unknown) => {
        throw unanswered(to, error);
      },
    );
  }
}
