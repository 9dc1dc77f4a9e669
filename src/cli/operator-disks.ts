import { operatorFilePaths } from '../config/paths.ts';
import { readSettings, type Settings } from '../config/settings.ts';
import { KnownMounts } from '../platform/foreign-mounts.ts';
import { threadDisks } from '../platform/foreign-paths.ts';

/** Finds out which operator files are on disks of other machines that do not answer: they are then refused, not waited for. */
export async function askOperatorFiles(env: NodeJS.ProcessEnv): Promise<void> {
  let settings: Settings;
  try {
    settings = readSettings(env);
  } catch {
    // The verb says what is wrong with them.
    return;
  }
  const here = new KnownMounts([]);
  const files = Object.values(operatorFilePaths(settings));
  const away = files.filter((file) => here.follow(file).kind === 'elsewhere');
  await Promise.all(away.map((file) => threadDisks().prove(file)));
}
