import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { appendText } from '../platform/append-text.ts';
import { storageFault } from '../platform/storage-error.ts';

/** Lines that wait for a disk at most, in characters: some hours of a meeting. */
const MOST_WAITING_CHARS = 4 * 1024 * 1024;
const RETRY_MS = 1_000;

/**
 * The transcript of a meeting: lines are appended whole and in order. Lines that the disk does not take wait for it, and are
 * tried again every second.
 */
export class Transcript {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onFault: (sentence: string | null) => void;
  #waiting: string[] = [];
  #chars = 0;
  #writing: Promise<void> | null = null;
  #failed = false;
  #cancelRetry = () => {};

  /** `onFault` is told why lines wait, and null when they no longer do. */
  constructor(path: string, clock: Clock, onFault: (sentence: string | null) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#onFault = onFault;
  }

  /** Appends one line; never blocks, never throws. */
  push(line: string): void {
    this.#waiting.push(`${line}\n`);
    this.#chars += line.length + 1;
    // The oldest go last: whoever reads the transcript has missed them already.
    while (this.#chars > MOST_WAITING_CHARS) this.#chars -= this.#waiting.shift()!.length;
    if (!this.#failed) this.#write();
  }

  /** Resolves to true when every line is on the disk, or to false after this many milliseconds. */
  async flush(deadline_ms: number): Promise<boolean> {
    const end = Promise.withResolvers<void>();
    const cancel = this.#clock.after(deadline_ms, end.resolve);
    let overdue = false;
    void end.promise.then(() => {
      overdue = true;
    });
    while (this.#waiting.length > 0 && !overdue) {
      this.#cancelRetry();
      this.#write();
      await Promise.race([this.#writing, end.promise]);
      if (this.#waiting.length > 0 && !overdue)
        await Promise.race([new Promise<void>((resolve) => this.#clock.after(100, resolve)), end.promise]);
    }
    cancel();
    this.#cancelRetry();
    return this.#waiting.length === 0;
  }

  #write(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const line = this.#waiting[0]!;
      try {
        // One write for each line, so that those of other writers come between whole lines.
        await appendText(this.#path, line);
        if (this.#waiting[0] === line) this.#chars -= this.#waiting.shift()!.length;
        if (this.#failed) this.#onFault(null);
        this.#failed = false;
      } catch (error) {
        if (!this.#failed) this.#onFault(faultOf(this.#path, error));
        this.#failed = true;
        this.#cancelRetry();
        this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.#write());
        return;
      }
    }
  }
}

function faultOf(path: string, error: unknown): string {
  const fault = storageFault(path, error);
  const said = fault === null ? `${path} cannot be written: ${messageOf(error)}` : fault.said;
  return `${said}; its lines wait; ${fault?.mend ?? 'check the disk'}`;
}
