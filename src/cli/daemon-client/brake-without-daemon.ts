import { sleep } from '../../base/clock.ts';
import { isCoded } from '../../base/errors.ts';
import { readBrakeFile, removeBrakeFile, writeBrakeFile } from '../../config/brake-file.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { dataPaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { storageError } from '../../platform/storage-error.ts';
import type { CliContext } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from './client.ts';

/** A daemon that is starting refuses calls for a moment. */
const BOOTING = { tries: 40, wait_ms: 250 };

/** The change of the brake's file; `was`: whether it existed before. */
export type BrakeFileChange = { path: string; was: boolean };

/** The daemon; null if none runs or answers. */
export async function daemonOrNone(settings: Settings): Promise<DaemonClient | null> {
  try {
    return await connectDaemon(settings);
  } catch (error) {
    if (isCoded(error, 'daemon_unreachable')) return null;
    throw error;
  }
}

/** Puts the brake on for the next daemon. Throws `storage_unavailable` if the file cannot be written durably. */
export function pullBrakeFile(context: CliContext, settings: Settings, note: string | null): BrakeFileChange {
  const path = dataPaths(settings).brake_file;
  const before = readBrakeFile(path);
  try {
    makeDataDir(settings);
    writeBrakeFile(path, {
      since: before?.since ?? context.clock.now(),
      note: note ?? before?.note ?? null,
    });
  } catch (error) {
    const effect = 'no daemon answers here, and one that is started now starts work';
    throw storageError(path, error, before === null ? effect : 'the brake was on already and stays on');
  }
  return { path, was: before !== null };
}

/** Releases the brake for the next daemon. Throws `storage_unavailable` if its file cannot be removed. */
export function removeBrake(settings: Settings): BrakeFileChange {
  const path = dataPaths(settings).brake_file;
  const was = readBrakeFile(path) !== null;
  try {
    removeBrakeFile(path);
  } catch (error) {
    throw storageError(path, error, 'the brake stays on for the next daemon');
  }
  return { path, was };
}

/** Makes a call, and retries while the daemon is starting. */
export async function whenBooted<T>(context: CliContext, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isCoded(error, 'booting') || tries >= BOOTING.tries) throw error;
      await sleep(context.clock, BOOTING.wait_ms);
    }
  }
}
