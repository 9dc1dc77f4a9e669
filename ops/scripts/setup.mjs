// Makes a checkout ready: installs the dependencies when they are missing or are not those of the lock file.
// Plain JavaScript for any Node from 18 on; says one line when it does something and nothing when not.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const lockFile = new URL('package-lock.json', root);
const stampFile = new URL('node_modules/.fiber-dispatch-stamp', root);
const installedFile = new URL('node_modules/.package-lock.json', root);

const stamp = createHash('sha256')
  .update(readFileSync(lockFile))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex');

if (readOrEmpty(stampFile) !== stamp) {
  if (!isInstalled()) install();
  if (process.exitCode === undefined) writeFileSync(stampFile, stamp);
}
if (process.exitCode === undefined) linkCommand();

/** Makes `npx svc` run this checkout: npm links the commands of dependencies only. */
function linkCommand() {
  const link = new URL('node_modules/.bin/svc', root);
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(new URL('.', link), { recursive: true });
  symlinkSync('../../src/cli/svc.cjs', link);
}

/** True where somebody installed exactly what the lock file names, by whatever command. */
function isInstalled() {
  const installed = packagesOf(installedFile);
  const locked = packagesOf(lockFile);
  if (installed === undefined || locked === undefined) return false;
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '') continue;
    const found = installed[path];
    // An optional package of another platform is not installed here.
    if (found === undefined ? entry.optional !== true : found.integrity !== entry.integrity) return false;
  }
  return fitsThisMachine(installed);
}

/** False for a folder that was brought along from another machine. */
function fitsThisMachine(installed) {
  const pinned = Object.keys(installed).filter((path) =>
    /^node_modules\/node-(bin-)?(linux|darwin)-/.test(path),
  );
  return (
    pinned.some((path) => path.endsWith(`${process.platform}-${process.arch}`)) &&
    pinned.every((path) => existsSync(new URL(`${path}/bin/node`, root)))
  );
}

function packagesOf(url) {
  try {
    return JSON.parse(readFileSync(url, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function install() {
  process.stdout.write('Installing the packages (npm ci); this takes about a minute …\n');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  // Inside an npm script this is the npm that runs it.
  const npm = process.env.npm_execpath;
  const [file, rest] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args];
  const result = spawnSync(file, rest, { cwd: fileURLToPath(root), stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status === 0) return;
  const why = result.error?.message ?? `it ended with ${result.status ?? result.signal}`;
  process.stderr.write(`Installing the packages failed: ${why}\n`);
  process.exitCode = 1;
}

function readOrEmpty(url) {
  try {
    return readFileSync(url, 'utf8');
  } catch {
    return '';
  }
}
