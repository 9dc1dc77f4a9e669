// Builds `dist/`, or the folder that is named, what the package runs from: the command and the thread entries as a few files of JavaScript with the
// libraries in them, the programs that are started by path, the licences of those libraries, and the build stamp.
// A thread that loads few files starts in a fraction of the time.
import { cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { readBuildStamp } from '../../src/platform/build-stamp.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = process.argv[2] ?? join(root, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
const modules = await bundle();
// Run by path, in processes of their own.
for (const path of globSync('src/**/*.cjs', { cwd: root }))
  if (path !== 'src/cli/svc.cjs') cpSync(join(root, path), join(dist, path));
writeFileSync(join(dist, 'licenses.txt'), licenses(modules));
writeFileSync(join(dist, 'build.json'), `${JSON.stringify(readBuildStamp())}\n`);

/** Answers the paths of all modules that went in. */
async function bundle() {
  const entries = ['src/cli/main.ts', ...readdirSync(join(root, 'workers')).map((name) => `workers/${name}`)];
  // What is installed beside the package: native code, and what starts files of its own.
  const installed = Object.keys(manifest.dependencies);
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ''), path])),
    platform: 'node',
    // The last two are native parts that ws does without.
    external: [/^node:/, 'msgpackr-extract', ...installed, 'bufferutil', 'utf-8-validate'],
  });
  const { output } = await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    // As deep as a room of `src/`, so that a path relative to a module holds in both.
    chunkFileNames: 'src/chunks/[name]-[hash].js',
  });
  await build.close();
  return output.flatMap((chunk) => chunk.moduleIds ?? []);
}

/** The licence of every library of which a module went in. */
function licenses(modules) {
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== null));
  return [...folders].sort().map(licenseOf).join('\n\n');
}

function packageOf(module) {
  if (!module.includes('/node_modules/')) return null;
  let folder = dirname(module);
  while (!existsSync(join(folder, 'package.json')) || nameOf(folder) === undefined) folder = dirname(folder);
  return folder;
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}`;
  return `${name} ${version} (${license})${text}`;
}

function nameOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name;
}
