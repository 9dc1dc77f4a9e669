import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { messageOf, systemCode } from '../base/errors.ts';
import { syncFolder, writeFileAtomic } from '../platform/atomic-write.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';
import { makeStateFolder } from './state-folder.ts';

const brakeFileSchema = z.object({
  version: z.literal(1),
  since: z.number(),
  note: z.string().nullable(),
});

/** Since when the brake is on (milliseconds since the Unix epoch; null if the file does not say), and why. */
export type Pulled = { since: number | null; note: string | null };

/** Reads the brake; null if there is no file. An unreadable file counts as on, and `fault` says why. */
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

/**
 * Writes the brake file, so that the brake survives restarts. Throws the system error of a failed write; does not
 * create a missing data dir.
 */
export function writeBrakeFile(path: string, pulled: Pulled): void {
  makeStateFolder(dirname(path));
  writeFileAtomic(path, `${JSON.stringify({ version: 1, ...pulled })}\n`, { mode: 0o600 });
}

/** Removes the brake file; throws the system error if that fails. */
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
    // The brake is off. After a crash of the machine it may be on again, which is the safe state.
  }
}
