import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256Of } from '../../../base/digest.ts';
import { readSettings, SETTINGS } from '../../../config/settings.ts';
import { packageRoot } from '../../../platform/package-root.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { DEMO_HOST, demoFolders } from './store.ts';

/** tmux accepts socket paths of up to 107 bytes, and its lock file needs some of them. */
const MOST_SOCKET_PATH = 95;
/** Settings of the user that also apply to the demo; all others are left out. */
const KEPT = new Set(['SVC_LISTEN', 'SVC_POLL_INTERVAL_MS', 'SVC_LOG_LEVEL', 'SVC_UI_DIST']);

/** The same context with the demo's environment. */
export function demoContext<C extends Pick<CliContext, 'env' | 'cwd'>>(
  context: C,
  dir: string | undefined,
): C {
  const root = demoRoot(context, dir);
  const named = { SVC_DEMO_DIR: dir === undefined ? '' : root };
  return { ...context, env: { ...context.env, ...demoEnvironment(context.env, root), ...named } };
}

/** The demo's folder: the given one, else inside a checkout, else beside the data of an installed package. */
export function demoRoot(context: Pick<CliContext, 'env' | 'cwd'>, dir: string | undefined): string {
  if (dir !== undefined) return resolve(context.cwd, dir);
  const root = packageRoot();
  if (existsSync(join(root, 'test'))) return join(root, '.cache', 'demo');
  return join(readSettings(context.env).data_dir, 'demo');
}

/** Every setting of a demo below `root`; an empty one counts as unset. */
export function demoEnvironment(env: NodeJS.ProcessEnv, root: string): NodeJS.ProcessEnv {
  const folders = demoFolders(root);
  const blank = Object.values(SETTINGS)
    .map((row) => row.env)
    .filter((name) => !KEPT.has(name) && env[name] !== undefined && !/_(MS|DEATHS|MB|INTENSITY)$/.test(name));
  return {
    ...Object.fromEntries(blank.map((name) => [name, ''])),
    SVC_DATA_DIR: folders.data,
    SVC_CONFIG_DIR: folders.config,
    SVC_STORES: folders.store,
    SVC_HOST: DEMO_HOST,
    SVC_TMUX_SOCKET: demoSocket(root),
    SVC_POLL_INTERVAL_MS: env.SVC_POLL_INTERVAL_MS ?? '2000',
    // Its workers cost nothing, and are to be seen at once.
    SVC_BUSY_LOAD: '0',
    SVC_LOG_LEVEL: env.SVC_LOG_LEVEL ?? 'error',
    SVC_DEMO: '1',
  };
}

/** Socket of the demo's private tmux server; outside `root` only if its path would be too long. */
export function demoSocket(root: string): string {
  const inside = join(root, 'tmux.sock');
  if (Buffer.byteLength(inside) <= MOST_SOCKET_PATH) return inside;
  const name = sha256Of(root).slice(0, 12);
  return join(tmpdir(), `svc-demo-${process.getuid?.() ?? 0}-${name}`, 'tmux.sock');
}
