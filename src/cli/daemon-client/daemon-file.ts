import { dirname, join } from 'node:path';
import { systemClock, within } from '../../base/clock.ts';
import { CodedError, messageOf, systemCode } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import { dataDirFiles } from '../../config/runtime-files.ts';
import type { Settings } from '../../config/settings.ts';
import { type DaemonFile, daemonFileSchema } from '../../contract/operator-files.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularText } from '../../platform/regular-file.ts';
import { runtimeFolder } from '../../platform/runtime-folder.ts';
import { processLife } from './daemon-process.ts';

/**
 * What `<data dir>/daemon.json` says about the daemon. `stale`: its process has ended. `unreadable`: the file exists
 * but is invalid.
 */
export type DaemonLookup =
  | { kind: 'running'; daemon: DaemonFile }
  | { kind: 'absent' }
  | { kind: 'stale'; daemon: DaemonFile }
  | { kind: 'unreadable'; path: string; detail: string };

/** Timeout of reading such a file, in milliseconds: its disk may be that of a machine that is gone. */
const READ_MS = 10_000;

/** Path of the file that a running daemon maintains. */
function daemonFilePath(settings: Settings): string {
  return join(settings.data_dir, 'daemon.json');
}

/**
 * Finds the daemon of this data folder and checks that its process is still the one that wrote the file. If the folder
 * was deleted while the daemon ran, the copy in the runtime folder is used. Throws `deadline_exceeded` where the disk does
 * not answer.
 */
export async function findDaemon(
  settings: Settings,
  env: NodeJS.ProcessEnv = process.env,
): Promise<DaemonLookup> {
  const found = await lookUp(daemonFilePath(settings));
  if (found.kind !== 'absent') return found;
  const folder = runtimeFolder(settings.runtime_dir, env);
  const copy = await lookUp(dataDirFiles(folder, settings).daemon_file);
  return copy.kind === 'running' ? copy : found;
}

async function lookUp(path: string): Promise<DaemonLookup> {
  let text: string;
  // Not by this thread, which could not say then that it waits.
  const reading = readRegularText(path, READ_LIMITS.state_file);
  if (!(await within(systemClock, READ_MS, reading)))
    throw new CodedError(
      'deadline_exceeded',
      `the disk of ${dirname(path)} does not answer; mount it again, or set SVC_DATA_DIR if that is another folder`,
      { details: { path: dirname(path) } },
    );
  try {
    text = await reading;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { kind: 'absent' };
    return {
      kind: 'unreadable',
      path,
      detail: `it cannot be read (${systemCode(error) ?? messageOf(error)})`,
    };
  }
  const parsed = daemonFileSchema.safeParse(jsonOf(text));
  if (!parsed.success) return { kind: 'unreadable', path, detail: 'its content is not valid' };
  // `unknown` does not prove that the process ended; the connection will show it.
  const ended = (await processLife(parsed.data)) === 'gone';
  return { kind: ended ? 'stale' : 'running', daemon: parsed.data };
}
