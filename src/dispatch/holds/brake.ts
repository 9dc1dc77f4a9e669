import type { Logger } from '../../base/logger.ts';
import { type Pulled, readBrakeFile, removeBrakeFile, writeBrakeFile } from '../../config/brake-file.ts';
import { storageError, storageFault } from '../../platform/storage-error.ts';

/**
 * The emergency brake: while it is on, nothing new is started on this host. It is one file, so that it survives every
 * end of the daemon and works without one; a file that cannot be read counts as on.
 */
export class Brake {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #onChange: () => void;
  #pulled: Pulled | null = null;
  #fault: string | null = null;

  /** `onChange` is called whenever it was pulled, released or found on. */
  constructor(options: { path: string; logger: Logger; onChange(): void }) {
    this.#path = options.path;
    this.#logger = options.logger;
    this.#onChange = options.onChange;
    this.look();
  }

  /** Null while work may start. */
  get pulled(): Pulled | null {
    return this.#pulled;
  }

  /** Why it is on only until the daemon ends, a sentence with the fix; null where it is off or lasts. */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * Adopts a file that somebody else wrote, and retries one that could not be written. A missing file does not
   * release the brake: only `release` does.
   */
  look(): Pulled | null {
    if (this.#fault !== null) this.#write();
    if (this.#pulled !== null) return this.#pulled;
    const found = readBrakeFile(this.#path);
    if (found === null) return null;
    const { fault, ...pulled } = found;
    if (fault !== null)
      this.#logger.warn(
        { detail: fault, path: this.#path },
        'the file of the emergency brake cannot be read; nothing is started until `svc resume-all`',
      );
    this.#pulled = pulled;
    this.#onChange();
    return pulled;
  }

  /** Applies the brake at once, whether or not its file can be written; a repeated call keeps the first time. */
  pull(note: string | null, now: number): Pulled {
    const pulled = {
      since: this.#pulled?.since ?? now,
      note: note ?? this.#pulled?.note ?? null,
    };
    this.#pulled = pulled;
    this.#write();
    this.#onChange();
    return pulled;
  }

  /** Releases the brake; true when it was on. Throws when the file cannot be removed, and then it stays on. */
  release(): boolean {
    const was = this.#pulled !== null;
    try {
      removeBrakeFile(this.#path);
    } catch (error) {
      throw storageError(this.#path, error, 'so the emergency brake stays on, also when the daemon restarts');
    }
    this.#pulled = null;
    this.#fault = null;
    this.#onChange();
    return was;
  }

  #write(): void {
    if (this.#pulled === null) return;
    try {
      writeBrakeFile(this.#path, this.#pulled);
      this.#fault = null;
    } catch (error) {
      const fault = storageFault(this.#path, error);
      if (fault === null) throw error;
      const before = this.#fault;
      this.#fault = `the brake is on until the daemon ends, and off once it is restarted: ${fault.said}; ${fault.mend}, and it is written with the next tick`;
      if (before !== this.#fault) this.#logger.error({ err: error }, this.#fault);
    }
  }
}
