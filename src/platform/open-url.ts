import { runsOn } from './detached-process.ts';
import { findExecutable } from './find-executable.ts';

/** How long a program that opens addresses may take to fail, in milliseconds; a browser of its own goes on running. */
const FAILS_WITHIN_MS = 3_000;

/** The program that shows an address in this person's browser; null where there is no desktop or no such program. */
export async function findUrlOpener(options: {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
}): Promise<string | null> {
  const { platform, env } = options;
  const path = env.PATH ?? '';
  // An editor that is connected to this machine names its own way to the browser at the other end.
  const named =
    env.BROWSER === undefined || env.BROWSER === '' ? null : await findExecutable(env.BROWSER, path);
  if (named !== null) return named;
  if (platform === 'darwin') return env.SSH_CONNECTION === undefined ? findExecutable('open', path) : null;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return null;
  return findExecutable('xdg-open', path);
}

/** Has the program show the address; false where it fails. */
export function openUrl(
  opener: string,
  url: string,
  { env, fails_within_ms = FAILS_WITHIN_MS }: { env: NodeJS.ProcessEnv; fails_within_ms?: number },
): Promise<boolean> {
  return runsOn({ file: opener, args: [url], env, fails_within_ms });
}
