import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, messageOf } from '../base/errors.ts';
import { ensurePrivateFolder } from './private-folder.ts';

const NAME = 'fiber-dispatch';

/**
 * Where all daemons of this user on this machine keep what they must agree on. `set` decides; else the system's own
 * runtime folder of the user, whether or not this process was told of it, so that a daemon of a cron job and one of a
 * session meet; else a folder below /tmp. The folder may not exist yet.
 */
export function runtimeFolder(set: string | null, env: NodeJS.ProcessEnv): string {
  if (set !== null) return set;
  const uid = process.geteuid?.() ?? 0;
  const given = env.XDG_RUNTIME_DIR;
  const candidates = given?.startsWith('/') ? [given, `/run/user/${uid}`] : [`/run/user/${uid}`];
  const own = candidates.find((path) => isPrivateOf(path, uid));
  return own === undefined ? `/tmp/${NAME}-${uid}` : join(own, NAME);
}

/** The same, made where it is missing; throws `invalid_config` where it is not ours alone. */
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
