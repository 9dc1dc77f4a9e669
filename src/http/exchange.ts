import type { Clock } from '../base/clock.ts';
import { BudgetShare, type MemoryBudget } from './memory-budget.ts';
import type { OpenStreams } from './open-streams.ts';
import { Pieces, type WholeBody } from './pieces.ts';
import {
  isRead,
  type OpenBody,
  type PreparedReply,
  type ReadBody,
  type RelayedBody,
  type StreamedBody,
} from './prepared-reply.ts';
import type { Wire, WireListener } from './socket.ts';
import type { UnsentAnswers } from './unsent-answers.ts';

/** Bytes that are handed to a connection at one time. */
export const SLICE = 256 * 1024;
/** What reading ahead of a connection holds: the slice on its way and the next one. */
const READ_AHEAD_BYTES = 2 * SLICE;
/** Read at one time where the budget for reading ahead is used up. */
const FRUGAL_SLICE = 64 * 1024;

/** The memory that all exchanges of a server hold for slow clients. */
export type Unsent = {
  /** For contents that are read while they are sent. */
  read_ahead: MemoryBudget;
  answers: UnsentAnswers;
  streams: OpenStreams;
  /** Answers of other hosts. */
  relays: OpenStreams;
  clock: Clock;
  /** How long a client may accept no bytes while there are some to accept, in milliseconds. */
  stall_ms: number;
};

/** The result of handing bytes to a connection. */
export type Sent = {
  /** How many of them the connection has; it holds what it could not pass on. */
  taken: number;
  /** True when the answer is complete. */
  all: boolean;
  /** False when the client has to take something before there is room for more. */
  flows: boolean;
  /** Resolves when more may be handed over and the bytes may be overwritten; also when the client has gone. */
  room: Promise<void>;
};

export type AnswerOptions = {
  /** The answer to a HEAD: no body goes over the wire. */
  head: boolean;
  /** Ends the connection after the answer. */
  close: boolean;
};

/**
 * One request and its one answer, on whatever transport. The transport's own objects must not be touched after the
 * answer is complete or the client has gone; the class that extends this one is the only place that touches them.
 */
export abstract class Exchange {
  /** Also of the request of another daemon that this one passed on. */
  id: string;
  /** True until the answer has been given or the client has gone away. */
  open = true;
  /** True once the answer is complete or nobody waits for it. */
  protected settled = false;
  /** Called once, when the answer is complete or the client has gone. */
  whenSettled: (() => void) | null = null;
  /** Answers a request whose body turns out to be unreadable; set by whoever takes the request. */
  refuse: ((error: Error) => void) | null = null;
  #controller: AbortController | null = null;
  #aborted = false;
  #onSettled: () => void;
  #unsent: Unsent;
  #forgetUnsent: (() => void) | null = null;
  #endSource: (() => void) | null = null;
  #cancelStall: (() => void) | null = null;
  /** True once a body without a length has been given its end. */
  #ended = false;

  constructor(id: string, onSettled: () => void, unsent: Unsent) {
    this.id = id;
    this.#onSettled = onSettled;
    this.#unsent = unsent;
  }

  /** Aborted when the client goes away before the answer is complete. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Writes the answer, the first time; later answers and answers to nobody are dropped. */
  answer(reply: PreparedReply, options: AnswerOptions): void {
    if (!this.open) return;
    this.open = false;
    this.write(reply, options);
  }

  /** True where the transport can turn the connection into a WebSocket, now and in this turn alone. */
  abstract readonly upgradable: boolean;

  /** Turns the connection into a WebSocket, which is the answer; `accept` is called before anything else of it. */
  upgrade(accept: (wire: Wire) => WireListener): void {
    if (!this.open) return;
    this.open = false;
    this.settle();
    this.switchProtocols(accept);
  }

  /** Closes the connection without an answer. */
  drop(): void {
    if (this.open) this.closeNow();
  }

  /** Hands over the body as it comes; a chunk is only lent. Nothing more is heard when the client goes away. */
  abstract readBody(hear: (chunk: Uint8Array, last: boolean) => void): void;

  /** Asks for no more of the body until `resumeBody`; what is on its way is still handed over. */
  abstract pauseBody(): void;

  abstract resumeBody(): void;

  /** Called now and then while a body is awaited, so that the transport's own idle time-out stays away. */
  abstract keepReading(): void;

  protected abstract write(reply: PreparedReply, options: AnswerOptions): void;

  protected abstract closeNow(): void;

  protected abstract switchProtocols(accept: (wire: Wire) => WireListener): void;

  /** Hands over slices of a body of `size` bytes, which follow one another. */
  protected abstract send(slices: readonly Uint8Array[], size: number): Sent;

  /** Hands over a slice of a body without a length, or the beginning of it. */
  protected abstract sendChunk(slice: Uint8Array): Sent;

  /** Memory of `SLICE` bytes for what `send` gets next. */
  protected abstract joinRoom(): Uint8Array;

  /** Ends a body without a length. */
  protected abstract endChunks(): void;

  /** Counts a body that is in memory among those that their clients have not taken, until the answer is settled. */
  protected holdUnsent(body: WholeBody): void {
    if (this.settled) return;
    const forget = this.#unsent.answers.add(body, () => this.#cut());
    const endUse = body instanceof Pieces ? body.use() : null;
    this.#forgetUnsent = () => {
      forget();
      endUse?.();
    };
  }

  /** Whether its server may come to call `refuse`. */
  get may_refuse(): boolean {
    return false;
  }

  /** False while its answer waits for an earlier request of its connection. */
  protected get hasTurn(): boolean {
    return true;
  }

  /** Cuts off the client unless, within the time, the answer is settled or the function that is returned is called. */
  protected expectTaken(): () => void {
    const { clock, stall_ms } = this.#unsent;
    const { hasTurn } = this;
    let cancel = clock.after(stall_ms, () => {
      if (hasTurn) this.#cut();
      else cancel = this.expectTaken();
    });
    this.#cancelStall?.();
    this.#cancelStall = () => cancel();
    return this.#cancelStall;
  }

  /** Sends a long body that is in memory a slice at a time: the kernel copies megabytes for as long as it has room. */
  protected sendLong(body: Pieces): void {
    this.#pumpLong(body).catch(() => this.#cut());
    this.holdUnsent(body);
  }

  /** Sends each piece with back-pressure; the head is written already. */
  protected stream(body: ReadBody): void {
    const sent =
      'read' in body ? this.#pump(body) : 'relayed' in body ? this.#relay(body) : this.#streamOpen(body);
    // A partial answer is worse than a closed connection, which the client can detect.
    sent.catch(() => this.#cut());
  }

  /** Sends a stream until one side ends it. */
  #streamOpen({ stream }: OpenBody): Promise<void> {
    const end = () => this.#endTaken();
    const source = stream[Symbol.asyncIterator]();
    const forget = this.#unsent.streams.add({ keep: () => this.keepReading(), end });
    this.#endSource = () => {
      forget();
      this.#controller?.abort();
      endSource(source);
    };
    return this.#pumpSource(source, (slice) => this.sendChunk(slice)).then(end);
  }

  /** Sends the answer of another host, to its end. */
  async #relay({ relayed, size }: RelayedBody): Promise<void> {
    const source = relayed[Symbol.asyncIterator]();
    const forget = this.#unsent.relays.add({ keep: () => this.keepReading(), end: () => undefined });
    this.#endSource = () => {
      forget();
      endSource(source);
    };
    let left = size ?? 0;
    await this.#pumpSource(source, (slice) => {
      if (size === null) return this.sendChunk(slice);
      const sent = this.send([slice], size);
      left -= sent.taken;
      if (sent.all) this.settle();
      return sent;
    });
    if (left > 0) throw new Error('less came than was promised');
    if (size === null) this.#endTaken();
  }

  /** Ends a body without a length, once, and waits no longer for the client to take that than for a slice. */
  #endTaken(): void {
    if (this.settled || this.#ended) return;
    this.#ended = true;
    this.endChunks();
    if (!this.settled) this.expectTaken();
  }

  async #pumpSource(source: AsyncIterator<Uint8Array>, hand: (slice: Uint8Array) => Sent): Promise<void> {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      for (let begin = 0; begin < next.value.length; ) {
        if (this.settled || this.#ended) return;
        const sent = hand(next.value.subarray(begin, begin + SLICE));
        await this.#roomAfter(sent);
        begin += sent.taken;
      }
      if (this.settled || this.#ended) return;
    }
  }

  async #pumpLong(body: Pieces): Promise<void> {
    for (let at = 0; at < body.length && !this.settled; ) {
      const slices = body.slices(at, SLICE, () => this.joinRoom());
      if (slices.length === 0) throw new Error('there are fewer bytes than were promised');
      const sent = this.send(slices, body.length);
      at += sent.taken;
      if (sent.all) this.settle();
      else await this.#roomAfter(sent);
    }
  }

  async #roomAfter({ flows, room }: Sent): Promise<void> {
    const cancel = flows ? null : this.expectTaken();
    await room;
    cancel?.();
  }

  #cut(): void {
    if (!this.settled) this.closeNow();
  }

  async #pump(body: StreamedBody): Promise<void> {
    const share = new BudgetShare(this.#unsent.read_ahead);
    try {
      for (let at = 0; at < body.size && !this.settled; ) {
        const ahead = share.growTo(Math.min(READ_AHEAD_BYTES, body.size - at));
        at = ahead ? await this.#sendAhead(body, at) : await this.#sendFrugally(body, at);
      }
    } finally {
      share.release();
    }
  }

  /** Keeps what was read until the client takes it. Answers where the next byte is, the end when all is sent. */
  async #sendAhead({ size, read }: StreamedBody, from: number): Promise<number> {
    let at = from;
    for await (const piece of read(at, size)) {
      for (let begin = 0; begin < piece.length; ) {
        if (this.settled) return size;
        const sent = this.send([sliceOf(piece, begin, size - at)], size);
        if (sent.all) this.settle();
        else await this.#roomAfter(sent);
        begin += sent.taken;
        at += sent.taken;
      }
    }
    if (at < size && !this.settled) throw new Error('less was read than was promised');
    return size;
  }

  /** Keeps nothing while the client takes nothing: what did not fit is read again when there is room. */
  async #sendFrugally({ size, read }: StreamedBody, from: number): Promise<number> {
    let at = from;
    let stalled: Sent | null = null;
    const end = Math.min(size, from + FRUGAL_SLICE);
    reading: for await (const piece of read(from, end)) {
      for (let begin = 0; begin < piece.length; ) {
        if (this.settled) return size;
        const sent = this.send([sliceOf(piece, begin, end - at)], size);
        begin += sent.taken;
        at += sent.taken;
        if (sent.all) {
          this.settle();
          return size;
        }
        if (!sent.flows) {
          stalled = sent;
          break reading;
        }
        await sent.room;
      }
    }
    if (stalled !== null) await this.#roomAfter(stalled);
    else if (at < end && !this.settled) throw new Error('less was read than was promised');
    return at;
  }

  /** The client has disconnected. */
  protected abort(): void {
    this.open = false;
    this.#aborted = true;
    this.settle();
    this.#controller?.abort();
  }

  protected settle(): void {
    if (this.settled) return;
    this.settled = true;
    this.#cancelStall?.();
    this.#forgetUnsent?.();
    this.#endSource?.();
    this.whenSettled?.();
    this.#onSettled();
  }
}

/** At most a slice of what is left of a piece; throws where the piece is longer than it may be. */
function sliceOf(piece: Uint8Array, begin: number, left: number): Uint8Array {
  if (piece.length - begin > left) throw new Error('more was read than was promised');
  return piece.subarray(begin, begin + SLICE);
}

/** A generator that waits for something hears of it when that comes. */
function endSource(source: AsyncIterator<Uint8Array>): void {
  source.return?.()?.catch(() => undefined);
}

/** How many bytes a body has on the wire; null for one without a length. */
export function byteLength(body: WholeBody | ReadBody): number | null {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (!isRead(body)) return body.length;
  return 'stream' in body ? null : body.size;
}
