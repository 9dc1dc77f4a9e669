// Builds the board into `dist/board`. With `--if-stale` only if what it is made of has changed since the last build.
// Plain JavaScript for any Node from 18 on: the pinned Node of `node_modules` runs the bundler.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const STAMP = 'made-of.txt';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const into = join(root, 'dist', 'board');
  const stale = !process.argv.includes('--if-stale') || stampIn(into) !== sourceStamp();
  if (stale) {
    process.stdout.write('Building the board …\n');
    try {
      buildBoard(into);
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  }
}

/** Builds the board into a folder, which changes at once when the build is whole. */
export function buildBoard(into) {
  const folder = resolve(into);
  const next = `${folder}.${process.pid}`;
  const stamp = sourceStamp();
  const result = spawnSync(
    join(root, 'node_modules', '.bin', 'node'),
    [
      join('node_modules', 'vite', 'bin', 'vite.js'),
      'build',
      'board',
      '--outDir',
      next,
      '--logLevel',
      'warn',
    ],
    // Tests build it too, and are to see what users see.
    { cwd: root, env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (result.status !== 0) {
    rmSync(next, { recursive: true, force: true });
    const why = result.error?.message ?? `it ended with ${result.status ?? result.signal}`;
    throw new Error(`Building the board failed: ${why}`);
  }
  writeFileSync(join(next, STAMP), `${stamp}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(next, folder);
}

/** Names the sources of the board, the contract that it is typed by, the page that it shows, and the libraries. */
function sourceStamp() {
  const hash = createHash('sha256');
  const files = ['board', join('src', 'contract')].flatMap((folder) => filesBelow(join(root, folder)));
  for (const path of [...files.sort(), join(root, 'ops', 'phone.md'), join(root, 'package-lock.json')])
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function stampIn(folder) {
  const path = join(folder, STAMP);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}
