import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** Names a package that was built already, for the processes of a test run. */
const VARIABLE = 'FIBER_DISPATCH_TEST_PACKAGE';

/** The files of the published package in a new folder, with the dependencies of this checkout. */
export function buildPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  // Some tests run it as another user.
  chmodSync(folder, 0o755);
  const dist = join(folder, 'dist');
  const build = spawnSync(process.execPath, [join(CHECKOUT, 'ops/scripts/build.mjs'), dist], {
    stdio: 'inherit',
  });
  if (build.status !== 0) throw new Error('the package could not be built');
  for (const name of [
    'ops',
    'package.json',
    'src/cli/launcher.mjs',
    'src/cli/svc.cjs',
    'src/cli/svc-hook.sh',
  ])
    cpSync(join(CHECKOUT, name), join(folder, name), { recursive: true });
  symlinkSync(realpathSync(join(CHECKOUT, 'node_modules')), join(folder, 'node_modules'));
  return folder;
}

/** Builds the package that the tests of a run start their daemons from; the setup of those suites. */
export default function buildForTests(): (() => void) | undefined {
  if (process.env[VARIABLE] !== undefined) return undefined;
  const folder = buildPackage();
  process.env[VARIABLE] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Path of a program of the package: as it is installed where the suite has built it, else as it is checked out. */
export function programOf(name: 'launcher.mjs' | 'svc.cjs'): string {
  return join(process.env[VARIABLE] ?? CHECKOUT, 'src/cli', name);
}

/** Folder of the board that the daemons of the suite serve. */
export function builtBoard(): string {
  return join(process.env[VARIABLE] ?? CHECKOUT, 'dist/board');
}
