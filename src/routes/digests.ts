import type { FileStamp } from '../contract/threads/pool.ts';
import type { Pool } from './callers.ts';
import { Lane } from './lane.ts';

const MOST_KEPT = 10_000;
const MOST_WAITING = 256;
/** Taking a job back costs a pool thread and what it remembers, so a digest that is soon done is let finish. */
const LONG_BYTES = 256 * 1024 * 1024;

/** Its signal is aborted when it goes away; it is not looked at, for it costs, unless there is something to wait for. */
export type Asker = { readonly signal: AbortSignal };

type Underway = { digest: Promise<string>; waiting: number; abort: AbortController };

/**
 * Digests of files, computed in the pool one after another, each once for all who ask for it, and kept for as long
 * as inode, time and size are the same. One that nobody waits for any more is given up.
 */
export class Digests {
  readonly #pool: Pool;
  readonly #lane = new Lane(MOST_WAITING);
  readonly #kept = new Map<string, string>();
  readonly #underway = new Map<string, Underway>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** SHA-256 in hex of the file as stamped; rejects with `file_changed` when it is another one by now. */
  async of(path: string, stamp: FileStamp, asker: Asker): Promise<string> {
    const key = `${stamp.dev} ${stamp.ino} ${stamp.size} ${stamp.mtime_ns} ${stamp.ctime_ns}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const underway = this.#underway.get(key) ?? this.#begin(key, path, stamp);
    underway.waiting += 1;
    const { signal } = asker;
    const leave = () => {
      underway.waiting -= 1;
      if (underway.waiting === 0) underway.abort.abort();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    try {
      return await underway.digest;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #begin(key: string, path: string, stamp: FileStamp): Underway {
    const abort = new AbortController();
    const digest = this.#lane.run(async () => {
      const signal = stamp.size >= LONG_BYTES || abort.signal.aborted ? { signal: abort.signal } : {};
      const { value } = await this.#pool.run('digest_file', { path, stamp }, signal);
      if (value.settled) this.#keep(key, value.sha256);
      return value.sha256;
    });
    const underway = { digest, waiting: 0, abort };
    this.#underway.set(key, underway);
    const forget = () => {
      if (this.#underway.get(key) === underway) this.#underway.delete(key);
    };
    digest.then(forget, forget);
    abort.signal.addEventListener('abort', forget, { once: true });
    return underway;
  }

  #keep(key: string, digest: string): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, digest);
  }
}
