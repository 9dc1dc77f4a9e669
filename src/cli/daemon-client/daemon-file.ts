import { join } from 'node:path';
import { messageOf, systemCode } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import { dataDirFiles } from '../../config/runtime-files.ts';
import type { Settings } from '../../config/settings.ts';
import { type DaemonFile, daemonFileSchema } from '../../contract/operator-files.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
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

/** Path of the file that a running daemon maintains. */
function daemonFilePath(settings: Settings): string {
  return join(settings.data_dir, 'daemon.json');
}

/**
 * Finds the daemon of this data folder and checks that its process is still the one that wrote the file. If the folder
 * was deleted while the daemon ran, the copy in the runtime folder is used.
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
  try {
    text = readRegularTextSync(path, READ_LIMITS.state_file);
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
