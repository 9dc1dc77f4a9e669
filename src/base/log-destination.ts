import * as fs from 'node:fs';
import type { DestinationStream } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import { systemCode } from './errors.ts';

/** Characters of lines that wait until they can be written; lines beyond that are dropped, and counted. */
export const MOST_WAITING_CHARS = 1024 * 1024;
/** Between two tries while lines cannot be written, in milliseconds. */
const RETRY_MS = 1_000;
/** How often and how long a pipe that is full is waited for as the thread ends. */
const LAST_TRIES = 20;
const LAST_WAIT_MS = 10;

/** Where lines go; the part of `node:fs` that takes them. */
export type LogFile = {
  writeSync(fd: number, bytes: Uint8Array): number;
  write(fd: number, bytes: Uint8Array, done: (error: Error | null, written: number) => void): void;
};

export type LogDestinationOptions = {
  fd?: number;
  /**
   * True: each line is written before `write` returns, so that it depends on no event loop. False: the thread does not wait
   * for the disk.
   */
  sync: boolean;
  file?: LogFile;
  clock?: Clock;
};

/**
 * A file descriptor for lines of a log. No error of it reaches the program: while its disk is full or broken, lines wait, and
 * beyond a limit they are dropped; once its reader is gone, all are.
 */
export class LogDestination implements DestinationStream {
  /** Called when lines can be written again, with the number of those that were dropped. */
  onLost: (lines: number) => void = () => undefined;
  readonly #fd: number;
  readonly #sync: boolean;
  readonly #file: LogFile;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #length = 0;
  #lost = 0;
  /** Bytes that were begun to be written, or that could not be. */
  #begun: Uint8Array | null = null;
  #busy = false;
  #waits = false;
  #closed = false;

  constructor({ fd = 1, sync, file = fs, clock = systemClock }: LogDestinationOptions) {
    this.#fd = fd;
    this.#sync = sync;
    this.#file = file;
    this.#clock = clock;
  }

  write(line: string): void {
    if (this.#closed) return;
    if (this.#length + line.length > MOST_WAITING_CHARS) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#length += line.length;
    if (!this.#waits) this.#go();
  }

  /** Writes what waits, as far as the descriptor takes it: the last act of a thread. */
  flushSync(): void {
    // Node writes what is on its way before the process ends.
    if (this.#busy) this.#begun = null;
    for (let tries = 0; tries < LAST_TRIES; tries += 1) {
      const failed = this.#writeAll();
      if (failed === null || !isFull(failed)) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WAIT_MS);
    }
  }

  #go(): void {
    if (this.#busy) return;
    if (this.#sync) {
      const failed = this.#writeAll();
      if (failed === null) this.#recovered();
      else this.#failed(failed);
    } else this.#writeNext();
  }

  #writeAll(): unknown {
    try {
      for (let bytes = this.#take(); bytes !== null; bytes = this.#take()) {
        const written = this.#file.writeSync(this.#fd, bytes);
        this.#begun = rest(bytes, written);
      }
      return null;
    } catch (error) {
      return error;
    }
  }

  #writeNext(): void {
    const bytes = this.#take();
    if (bytes === null) {
      this.#recovered();
      return;
    }
    this.#busy = true;
    this.#file.write(this.#fd, bytes, (error, written) => {
      this.#busy = false;
      if (error !== null) {
        this.#failed(error);
        return;
      }
      this.#begun = rest(bytes, written);
      this.#writeNext();
    });
  }

  /** What is to be written next: it stays begun until it is written. */
  #take(): Uint8Array | null {
    if (this.#begun === null && this.#waiting.length > 0) {
      this.#begun = Buffer.from(this.#waiting.join(''));
      this.#waiting = [];
      this.#length = 0;
    }
    return this.#begun;
  }

  #failed(error: unknown): void {
    if (systemCode(error) === 'EPIPE' || systemCode(error) === 'EBADF') {
      this.#closed = true;
      this.#waiting = [];
      this.#begun = null;
      return;
    }
    if (this.#waits) return;
    this.#waits = true;
    this.#clock.after(RETRY_MS, () => {
      this.#waits = false;
      this.#go();
    });
  }

  #recovered(): void {
    const lines = this.#lost;
    this.#lost = 0;
    if (lines > 0) this.onLost(lines);
  }
}

/** A pipe whose reader is slow. */
function isFull(error: unknown): boolean {
  return systemCode(error) === 'EAGAIN';
}

function rest(bytes: Uint8Array, written: number): Uint8Array | null {
  return written >= bytes.length ? null : bytes.subarray(written);
}
