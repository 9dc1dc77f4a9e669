import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDER_STATE_BYTES, recorderStateSchema } from '../contract/recorder.ts';
import { removeQuietly } from '../platform/atomic-write.ts';
import { readableFolderNames } from '../platform/folder-names.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

/**
 * Removes the audio of meetings in a folder that was last written before this time, in milliseconds since the Unix epoch. Audio
 * beside which there is no lifecycle file of a recorder is somebody else's, and stays.
 */
export function removeOldAudio(folder: string, before: number): void {
  for (const name of readableFolderNames(folder)) {
    if (!name.endsWith('.wav')) continue;
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true || found.mtimeMs >= before) continue;
    if (isLifecycleFile(`${path.slice(0, -'.wav'.length)}.json`)) removeQuietly(path);
  }
}

function isLifecycleFile(path: string): boolean {
  try {
    return recorderStateSchema.safeParse(JSON.parse(readRegularTextSync(path, RECORDER_STATE_BYTES))).success;
  } catch {
    return false;
  }
}
