import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { folderNames } from '../platform/folder-names.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';
import { storageFault } from '../platform/storage-error.ts';
import { makeStateFolder } from './state-folder.ts';

/** Holds that are put on one fiber, each for a person to lift. */
export const NAMED_HOLDS = ['killed', 'clean_exit', 'server_lost'] as const;
export type NamedHold = (typeof NAMED_HOLDS)[number];

const holdSchema = z.object({
  reason: z.enum(NAMED_HOLDS),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
  /** The start whose end it is; null where the file does not say. */
  launch_id: z.string().nullable(),
  /** What the person said who put it on; null when nothing was said. */
  note: z.string().nullable(),
  /** Root of the store where its fiber was seen last; null where the file does not say. */
  store: z.string().nullable().default(null),
});
export type Hold = z.infer<typeof holdSchema>;
const fileSchema = holdSchema.extend({ version: z.literal(1) });

const SUFFIX = '.json';

/**
 * The named holds on disk: one file for each held fiber, so that a damaged one concerns no other. A file that cannot be
 * read counts as a kill, since starting what a person stopped is the worse mistake.
 */
export class HoldFiles {
  readonly folder: string;
  readonly #logger: Logger;

  constructor(options: { folder: string; logger: Logger }) {
    this.folder = options.folder;
    this.#logger = options.logger;
  }

  /** Every hold by fiber key; throws the system error when the folder cannot be listed. */
  readAll(now: number): Map<string, Hold> {
    const holds = new Map<string, Hold>();
    for (const name of folderNames(this.folder)) {
      const key = keyOfFile(name);
      if (key !== null) holds.set(key, this.#read(name, now));
    }
    return holds;
  }

  /** Throws the system error of a failed write; does not create a missing data dir. */
  write(key: string, hold: Hold): void {
    for (const folder of [dirname(this.folder), this.folder]) makeStateFolder(folder);
    writeFileAtomic(pathOf(this.folder, key), `${JSON.stringify({ version: 1, ...hold })}\n`, {
      mode: 0o600,
    });
  }

  /** Why a write failed, and the fix. */
  explain(error: unknown): string {
    const { said, mend } = storageFault(this.folder, error) ?? { said: messageOf(error), mend: 'see to it' };
    return `${said}; ${mend}`;
  }

  /** Throws the system error of a failed removal. */
  remove(key: string): void {
    removeHold(this.folder, key);
  }

  #read(name: string, now: number): Hold {
    const path = join(this.folder, name);
    try {
      const { version: _, ...hold } = fileSchema.parse(
        JSON.parse(readRegularTextSync(path, READ_LIMITS.state_file)),
      );
      return hold;
    } catch (error) {
      this.#logger.warn({ err: error, path }, 'a hold cannot be read; its fiber counts as killed');
      return { reason: 'killed', at: now, launch_id: null, note: null, store: null };
    }
  }
}

/**
 * Lifts the hold on one fiber, where there is one; throws the system error of a failed removal. After a crash of the
 * machine the hold may be back, which is the safe state.
 */
export function removeHold(folder: string, key: string): void {
  rmSync(pathOf(folder, key), { force: true });
}

/** Names with a dot at their beginning are those of temporary files. */
function pathOf(folder: string, key: string): string {
  return join(folder, `${encodeURIComponent(key).replaceAll('.', '%2E')}${SUFFIX}`);
}

/** Null for what is no hold, such as a temporary file that a crash left behind. */
function keyOfFile(name: string): string | null {
  if (!name.endsWith(SUFFIX) || name.startsWith('.')) return null;
  try {
    return decodeURIComponent(basename(name, SUFFIX));
  } catch {
    return null;
  }
}
