/**
 * Installs the real agent programs, at the versions the tests were written against, into `.cache/harness/`.
 * Does nothing when they are there already. No install script of a package is run.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = {
  '@anthropic-ai/claude-code': '2.1.332',
  '@openai/codex': '0.171.0',
  '@earendil-works/pi-coding-agent': '1.6.0',
};

const CACHE = fileURLToPath(new URL('../../.cache/harness/', import.meta.url));
/** A folder with one link per program: put it on PATH. */
const BIN = join(CACHE, 'bin');

const PROGRAMS = ['claude', 'codex', 'pi'];

function installedVersion(name) {
  try {
    return JSON.parse(readFileSync(join(CACHE, 'node_modules', name, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

function isInstalled() {
  const versions = Object.entries(VERSIONS).every(([name, version]) => installedVersion(name) === version);
  return versions && PROGRAMS.every((name) => existsSync(join(BIN, name)));
}

/** Claude's own `bin` only works after its install script; the native program lies in a platform package. */
function claudeProgram() {
  const platform = `${process.platform}-${process.arch}`;
  const found = [platform, `${platform}-musl`]
    .map((suffix) => join(CACHE, 'node_modules', `@anthropic-ai/claude-code-${suffix}`, 'claude'))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`no claude program for ${platform} was installed`);
  return found;
}

function install() {
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(
    join(CACHE, 'package.json'),
    `${JSON.stringify({ private: true, dependencies: VERSIONS }, null, 2)}\n`,
  );
  const npm = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund'],
    { cwd: CACHE, stdio: 'inherit' },
  );
  if (npm.error !== undefined) throw npm.error;
  if (npm.status !== 0) throw new Error(`npm install in ${CACHE} ended with ${npm.status}`);
  rmSync(BIN, { recursive: true, force: true });
  mkdirSync(BIN);
  const programs = {
    claude: claudeProgram(),
    codex: join(CACHE, 'node_modules/@openai/codex/bin/codex.js'),
    pi: join(CACHE, 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js'),
  };
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(BIN, name));
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (isInstalled()) process.stdout.write('the agent programs are installed\n');
  else install();
}
