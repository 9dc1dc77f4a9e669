import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, messageOf } from '../base/errors.ts';
import { ensurePrivateFolder } from './private-folder.ts';

const NAME = 'fiber-dispatch';

/**
 * The folder that all daemons of this user on this machine share. `set` decides; else the system's runtime folder of
 * the user, even if `XDG_RUNTIME_DIR` is not set, so that daemons of cron jobs and of login sessions agree; else a
 * folder below /tmp. The folder may not exist yet.
 */
export function runtimeFolder(set: string | null, env: NodeJS.ProcessEnv): string {
  if (set !== null) return set;
  const uid = process.geteuid?.() ?? 0;
  const given = env.XDG_RUNTIME_DIR;
  const candidates = given?.startsWith('/') ? [given, `/run/user/${uid}`] : [`/run/user/${uid}`];
  const own = candidates.find((path) => isPrivateOf(path, uid));
  return own === undefined ? `/tmp/${NAME}-${uid}` : join(own, NAME);
}

/** The same; creates it if missing. Throws `invalid_config` if other users can access it. */
export function ensureRuntimeFolder(set: string | null, env: NodeJS.ProcessEnv): string {
  const path = runtimeFolder(set, env);
  try {
    ensurePrivateFolder(path, { tighten: false });
    return path;
  } catch (error) {
    throw new CodedError(
      'invalid_config',
      `${messageOf(error)}; or set SVC_RUNTIME_DIR to a folder of yours, the same for every daemon of this machine`,
      { cause: error },
    );
  }
}

function isPrivateOf(path: string, uid: number): boolean {
  try {
    const found = lstatSync(path);
    return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
