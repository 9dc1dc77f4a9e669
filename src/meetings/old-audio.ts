import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, everySteady } from '../base/clock.ts';
import { RECORDER_STATE_BYTES, recorderStateSchema } from '../contract/recorder.ts';
import { removeQuietly } from '../platform/atomic-write.ts';
import { readableFolderNames } from '../platform/folder-names.ts';
import { mayFollow } from '../platform/foreign-paths.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Removes hourly the audio of meetings in a folder that is kept no longer; the returned function ends that. */
export function keepRemovingOldAudio(options: {
  folder: string;
  keep_days: number;
  clock: Clock;
}): () => void {
  const { folder, keep_days, clock } = options;
  return everySteady(clock, HOUR_MS, async (now) => {
    if ((await mayFollow(folder)) === 'answers') removeOldAudio(folder, now - keep_days * DAY_MS);
  });
}

/**
 * Removes the audio of meetings in a folder that was last written before this time, in milliseconds since the Unix epoch. Audio
 * beside which there is no lifecycle file of a recorder is somebody else's, and stays.
 */
function removeOldAudio(folder: string, before: number): void {
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
