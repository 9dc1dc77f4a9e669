import type { z } from 'zod';
import { systemCode } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';

/**
 * The one file of a book, by which it outlasts a restart. A fault of its disk is logged and stops nobody: the book goes on
 * in memory.
 */
export class StateFile<T> {
  readonly path: string;
  readonly #schema: z.ZodType<T>;
  readonly #logger: Logger;
  readonly #what: string;
  readonly #instead: string;

  /** `what` names the contents in the log, and `instead` says what is done without them. */
  constructor(options: {
    path: string;
    schema: z.ZodType<T>;
    logger: Logger;
    what: string;
    instead: string;
  }) {
    this.path = options.path;
    this.#schema = options.schema;
    this.#logger = options.logger;
    this.#what = options.what;
    this.#instead = options.instead;
  }

  /** Null where there is no file, or it cannot be read. */
  read(): T | null {
    try {
      return this.#schema.parse(JSON.parse(readRegularTextSync(this.path, READ_LIMITS.state_file)));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        this.#logger.warn({ err: error, path: this.path }, `${this.#what} cannot be read; ${this.#instead}`);
      return null;
    }
  }

  /** Durable when it returns null; else the error, and the file is as it was. */
  write(value: T): { error: unknown } | null {
    try {
      writeFileAtomic(this.path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
      return null;
    } catch (error) {
      this.#logger.error({ err: error, path: this.path }, `${this.#what} cannot be written`);
      return { error };
    }
  }
}
