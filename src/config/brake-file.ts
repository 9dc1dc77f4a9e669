import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { messageOf, systemCode } from '../base/errors.ts';
import { syncFolder, writeFileAtomic } from '../platform/atomic-write.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

const brakeFileSchema = z.object({
  version: z.literal(1),
  since: z.number(),
  note: z.string().nullable(),
});

/** Since when nothing new is started (milliseconds since the Unix epoch; null where the file does not tell), and why. */
export type Pulled = { since: number | null; note: string | null };

/** The brake as its file has it; null where there is none. One that cannot be read counts as pulled, and `fault` says why. */
export function readBrakeFile(path: string): (Pulled & { fault: string | null }) | null {
  try {
    const { since, note } = brakeFileSchema.parse(
      JSON.parse(readRegularTextSync(path, READ_LIMITS.state_file)),
    );
    return { since, note, fault: null };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    return { since: null, note: null, fault: messageOf(error) };
  }
}

/** Makes the brake last. Throws the system error of what could not be written; a data dir that is missing stays so. */
export function writeBrakeFile(path: string, pulled: Pulled): void {
  makeStateFolder(dirname(path));
  writeFileAtomic(path, `${JSON.stringify({ version: 1, ...pulled })}\n`, { mode: 0o600 });
}

/** Throws the system error where the file cannot be removed. */
export function removeBrakeFile(path: string): void {
  try {
    rmSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    syncFolder(dirname(path));
  } catch {
    // It is off; after a crash of the machine it may be on again, which is the safe side.
  }
}

function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
