import { join } from 'node:path';
import { packageRoot } from '../../../platform/package-root.ts';
import { type Check, fail, ok, warn } from './check.ts';

/** ABI of Node 22, for which the native HTTP module is built. */
const NODE_ABI = '127';
/** Node 22 needs this C library. */
const LEAST_GLIBC = '2.28';

/** Node, the C library, and who runs this. */
export const checkRuntime: Check = () => [node(), ownProgram(), system(), user()];

function node() {
  const { node: version, modules } = process.versions;
  return modules === NODE_ABI
    ? ok('node', `Node ${version}`)
    : fail('node', `Node ${version} has ABI ${modules}, not ${NODE_ABI}`, 'start svc by its own launcher');
}

/** The command for a service manager, which then supervises the daemon itself and no wrapper. */
function ownProgram() {
  const command = join(packageRoot(), 'src', 'cli', 'svc.cjs');
  return ok('service command', `for systemd and launchd: ${process.execPath} ${command} daemon run`);
}

function system() {
  const name = `${process.platform} ${process.arch}`;
  if (process.platform !== 'linux') return ok('system', name);
  const version = glibcVersion();
  if (version === null)
    return fail('system', `${name} without glibc`, 'run it on a distribution that uses glibc');
  return isOlder(version, LEAST_GLIBC)
    ? fail('system', `${name}, glibc ${version}`, `use a system with glibc ${LEAST_GLIBC} or newer`)
    : ok('system', `${name}, glibc ${version}`);
}

function user() {
  return process.getuid?.() === 0
    ? warn(
        'user',
        'the user is root: every worker can do anything here',
        'run the daemon as an ordinary user',
      )
    : ok('user', `uid ${process.getuid?.() ?? 'unknown'}`);
}

function glibcVersion(): string | null {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime ?? null;
}

/** Compares dotted versions number by number. */
export function isOlder(version: string, least: string): boolean {
  const have = version.split('.').map(Number);
  const need = least.split('.').map(Number);
  for (const [index, part] of need.entries()) {
    const own = have[index] ?? 0;
    if (own !== part) return own < part;
  }
  return false;
}
