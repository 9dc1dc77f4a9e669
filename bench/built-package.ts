import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `checkout`: TypeScript, stripped at every start. `package`: what is installed from npm. */
export type Form = 'checkout' | 'package';

const root = fileURLToPath(new URL('..', import.meta.url));
let built: string | null = null;

/** Path of the launcher of either form; the package is built at the first question for it. */
export function launcherOf(form: Form): string {
  return join(form === 'checkout' ? root : packageFolder(), 'src/cli/svc.cjs');
}

/** The files of the published package, with the dependencies of this checkout. */
function packageFolder(): string {
  if (built !== null) return built;
  const build = spawnSync(process.execPath, [join(root, 'ops/scripts/build.mjs')], { stdio: 'inherit' });
  if (build.status !== 0) throw new Error('the package could not be built');
  const folder = mkdtempSync(join(tmpdir(), 'fdb-package-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['dist', 'ops', 'package.json', 'src/cli/launcher.mjs', 'src/cli/svc.cjs'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
  built = folder;
  return folder;
}
