import { MINUTE_MS } from '../model/activity.ts';

/** While nothing says that a ledger has grown. */
const EVERY_MS = MINUTE_MS;
/** Between two reads, however fast a ledger grows. */
const APART_MS = 4_000;

/** Reads again and again while the page is looked at: each minute, and soon after it was wanted. */
export class Pace {
  readonly #read: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #read_at = 0;
  #reading = false;
  #wanted = false;
  #running = false;

  /** `read` never rejects. */
  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  start(): void {
    this.#running = true;
    document.addEventListener('visibilitychange', this.#onSeen);
    this.want();
  }

  stop(): void {
    this.#running = false;
    document.removeEventListener('visibilitychange', this.#onSeen);
    clearTimeout(this.#timer);
  }

  /** Reads as soon as it may. */
  want(): void {
    this.#wanted = true;
    if (!this.#reading) this.#plan(Math.max(0, this.#read_at + APART_MS - Date.now()));
  }

  #plan(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), ms);
  }

  async #run(): Promise<void> {
    // A hidden page reads once it is looked at again.
    if (document.hidden || this.#reading) return;
    this.#reading = true;
    this.#wanted = false;
    this.#read_at = Date.now();
    await this.#read();
    this.#reading = false;
    if (!this.#running) return;
    if (this.#wanted) this.want();
    else this.#plan(EVERY_MS);
  }

  readonly #onSeen = () => {
    if (!document.hidden) this.want();
  };
}
