import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { removeQuietly } from '../platform/atomic-write.ts';

/**
 * Removes the audio of meetings in a folder that was last written before this time, in milliseconds since the Unix epoch. Audio
 * beside which there is no lifecycle file of a recorder is somebody else's, and stays.
 */
export function removeOldAudio(folder: string, before: number): void {
  for (const name of namesIn(folder)) {
    if (!name.endsWith('.wav')) continue;
    const path = join(folder, name);
    if (!existsSync(`${path.slice(0, -'.wav'.length)}.json`)) continue;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true && found.mtimeMs < before) removeQuietly(path);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}
