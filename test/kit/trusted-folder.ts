import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

export type TrustedFolder = { path: string; remove(): void };

/**
 * A folder of a test's own that no other user can have made, which none below `/tmp` is; `remove` deletes it. The home of
 * the environment may be such a one.
 */
export function trustedFolder(): TrustedFolder {
  const { uid, homedir: home } = userInfo();
  const places = [process.env.XDG_RUNTIME_DIR, homedir(), `/run/user/${uid}`, '/run', home];
  const place = places.find((one) => one !== undefined && isTrusted(one, uid));
  if (place === undefined) throw new Error(`other users can write to each of ${places.join(', ')}`);
  const path = mkdtempSync(join(place, '.svc-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Whether this user can make something in a folder that only they and root can change, with all that lead to it. */
function isTrusted(folder: string, uid: number): boolean {
  try {
    const real = realpathSync(folder);
    if (uid !== 0 && statSync(real).uid !== uid) return false;
    for (let at = real; ; at = dirname(at)) {
      const { uid: owner, mode } = statSync(at);
      if ((owner !== uid && owner !== 0) || (mode & 0o022) !== 0) return false;
      if (at === dirname(at)) return true;
    }
  } catch {
    return false;
  }
}
