import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { systemCode } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { syncFolder, writeFileAtomic } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';

const brakeFileSchema = z.object({
  version: z.literal(1),
  since: z.number(),
  note: z.string().nullable(),
});

/** Since when nothing new is started (milliseconds since the Unix epoch; null where the file does not tell), and why. */
export type Pulled = { since: number | null; note: string | null };

/**
 * The emergency brake: while it is pulled, nothing new is started on this host. It is one file, so that it
 * outlasts every end of the daemon; a file that cannot be read counts as pulled.
 */
export class Brake {
  readonly #path: string;
  readonly #logger: Logger;
  #pulled: Pulled | null;

  constructor(options: { path: string; logger: Logger }) {
    this.#path = options.path;
    this.#logger = options.logger;
    this.#pulled = this.#read();
  }

  /** Null while work may start. */
  get pulled(): Pulled | null {
    return this.#pulled;
  }

  /** Pulls it at once; doing it again keeps the first moment. Throws when it could not be made to last. */
  pull(note: string | null, now: number): Pulled {
    const pulled = {
      since: this.#pulled?.since ?? now,
      note: note ?? this.#pulled?.note ?? null,
    };
    this.#pulled = pulled;
    makeFolder(dirname(this.#path));
    writeFileAtomic(this.#path, `${JSON.stringify({ version: 1, ...pulled })}\n`, { mode: 0o600 });
    return pulled;
  }

  /** Lets it go; true when it was pulled. Throws when the file cannot be removed, and then it stays pulled. */
  release(): boolean {
    const was = this.#pulled !== null;
    rmSync(this.#path, { force: true });
    if (was) syncFolder(dirname(this.#path));
    this.#pulled = null;
    return was;
  }

  #read(): Pulled | null {
    try {
      const { since, note } = brakeFileSchema.parse(
        JSON.parse(readRegularTextSync(this.#path, READ_LIMITS.state_file)),
      );
      return { since, note };
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      this.#logger.warn(
        { err: error, path: this.#path },
        'the file of the emergency brake cannot be read; nothing is started until `svc resume-all`',
      );
      return { since: null, note: null };
    }
  }
}
