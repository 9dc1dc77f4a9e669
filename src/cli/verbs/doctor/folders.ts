import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../../../base/errors.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';
import { isDiskFull } from './full-disk.ts';

/** The folders that the daemon writes to: owned by this user, writable, closed to others. */
export const checkFolders: Check = ({ settings }) => [
  folder('data folder', settings.data_dir, 'SVC_DATA_DIR'),
  folder('config folder', settings.config_dir, 'SVC_CONFIG_DIR'),
];

function folder(name: string, path: string, variable: string): Finding {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const parent = nearestExisting(path);
    return canWrite(parent) === null
      ? ok(name, `${path} will be made when it is needed`)
      : fail(name, `${path} cannot be made in ${parent}`, `make it, or set ${variable} to a folder of yours`);
  }
  if (!found.isDirectory())
    return fail(name, `${path} is not a folder`, `move it away, or set ${variable} to a folder of yours`);
  const refused = canWrite(path);
  if (refused !== null)
    return fail(name, `${path} is not writable (${refused})`, `make it writable, or set ${variable}`);
  if (isDiskFull(path)) return fail(name, `no space is left on the disk of ${path}`, 'free space there');
  const mode = (found.mode & 0o777).toString(8);
  return (found.mode & 0o077) === 0
    ? ok(name, path)
    : warn(name, `${path} is open to other users (mode ${mode})`, `close it with: chmod 700 ${path}`);
}

function canWrite(path: string): string | null {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return systemCode(error) ?? 'unknown error';
  }
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : nearestExisting(parent);
}
