// Builds `dist/`, or the folder that is named, what the package runs from: the command, the thread entries and the
// programs that are started by path as a few files of JavaScript with the libraries in them, the board, the licences of
// all these libraries, and the build stamp. A thread that loads few files starts in a fraction of the time.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { readBuildStamp } from '../../src/platform/build-stamp.ts';
import { buildBoard } from './build-board.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = process.argv[2] ?? join(root, 'dist');
/** Native parts that libraries do without. */
const NATIVE = ['msgpackr-extract', 'bufferutil', 'utf-8-validate'];
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
const workers = readdirSync(join(root, 'workers')).map((name) => `workers/${name}`);
const modules = await bundle(['src/cli/main.ts', ...workers], 'esm', 'js');
// Run by path, in processes of their own that have to start at once.
await bundle(['src/cli/hook/entry.cjs', 'src/platform/disk-child.cjs'], 'cjs', 'cjs');
buildBoard(join(dist, 'board'));
writeFileSync(join(dist, 'licenses.txt'), licenses(modules));
writeFileSync(join(dist, 'build.json'), `${JSON.stringify(readBuildStamp())}\n`);

/** Bundles these entries, each to a file at the same place below `dist`; answers the paths of all modules that went in. */
async function bundle(entries, format, extension) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.\w+$/, ''), path])),
    platform: 'node',
    // A bundler cannot follow the calls of `require` in a UMD build, which some libraries name first for Node.
    resolve: { mainFields: ['module', 'main'] },
    // What is installed beside the package: native code, and what starts files of its own.
    external: [/^node:/, ...NATIVE, ...Object.keys(manifest.dependencies)],
  });
  const { output } = await build.write({
    dir: dist,
    format,
    entryFileNames: `[name].${extension}`,
    // As deep as a room of `src/`, so that a path relative to a module holds in both. Named after a module and not its
    // contents: a daemon that runs while its package is replaced still finds what it loads late.
    chunkFileNames: ({ facadeModuleId, moduleIds }) =>
      `src/chunks/${nameOfChunk(facadeModuleId ?? moduleIds.at(-1))}.${extension}`,
  });
  await build.close();
  return output.flatMap((chunk) => chunk.moduleIds ?? []);
}

function nameOfChunk(module) {
  const path = module.startsWith(root) ? module.slice(root.length) : module;
  return path
    .replace(/^src\//, '')
    .replace(/\.\w+$/, '')
    .replaceAll(/[^\w-]+/g, '-');
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
