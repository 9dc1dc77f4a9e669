import { accessSync, constants, statSync } from 'node:fs';
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
 * but is invalid. `denied`: whether it exists is not for this user to know; `what` is a sentence without its end.
 */
export type DaemonLookup =
  | { kind: 'running'; daemon: DaemonFile }
  | { kind: 'absent' }
  | { kind: 'stale'; daemon: DaemonFile }
  | { kind: 'unreadable'; path: string; detail: string }
  | { kind: 'denied'; what: string; mend: string };

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

/** Throws `daemon_unreachable` where it is not for this user to know whether a daemon runs. */
export function requireSeen(
  lookup: DaemonLookup,
): asserts lookup is Exclude<DaemonLookup, { kind: 'denied' }> {
  if (lookup.kind === 'denied') throw new CodedError('daemon_unreachable', `${lookup.what}; ${lookup.mend}`);
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
    const code = systemCode(error);
    if (code === 'ENOENT') return { kind: 'absent' };
    if (code === 'EACCES' || code === 'EPERM')
      return {
        kind: 'denied',
        what: `${deniedBy(path)}, so svc cannot know whether a daemon runs`,
        mend: 'give yourself permission, run this as the user who owns it, or set SVC_DATA_DIR to a folder of yours',
      };
    return {
      kind: 'unreadable',
      path,
      detail: `it cannot be read (${code ?? messageOf(error)})`,
    };
  }
  const parsed = daemonFileSchema.safeParse(jsonOf(text));
  if (!parsed.success) return { kind: 'unreadable', path, detail: 'its content is not valid' };
  // `unknown` does not prove that the process ended; the connection will show it.
  const ended = (await processLife(parsed.data)) === 'gone';
  return { kind: ended ? 'stale' : 'running', daemon: parsed.data };
}

/** What this user may not read, as a sentence without its end: the file, or the first folder on the way to it. */
function deniedBy(path: string): string {
  const above = dirname(path);
  try {
    accessSync(above, constants.X_OK);
  } catch {
    if (above !== path) return deniedBy(above);
  }
  const { mode, uid } = statSync(path);
  const permission = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}, of uid ${uid}`;
  return `${path} (${permission}) may not be read by this user (uid ${process.geteuid?.()})`;
}
