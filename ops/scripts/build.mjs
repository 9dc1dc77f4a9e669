// Builds `dist/`, or the folder that is named, what the package runs from: the command, the thread entries and the
// programs that are started by path as a few files of JavaScript with the libraries in them, the native HTTP server, the
// board, the licences of all these libraries, and the build stamp. A thread that loads few files starts in a fraction of
// the time.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { readBuildStamp } from '../../src/platform/build-stamp.ts';
import { buildBoard } from './build-board.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = resolve(process.argv[2] ?? join(root, 'dist'));
/** Native parts that libraries do without. */
const NATIVE = ['msgpackr-extract', 'bufferutil', 'utf-8-validate'];
/** ABI of the pinned Node, the only one that loads the native HTTP server; the launcher names it too. */
const NODE_ABI = '127';
/**
 * Node's HTTP module, read as the plain object that it is: an import statement reads all its exports, and with those of
 * WebSockets Node loads its `fetch`, which takes a fifth of the time of a command.
 */
const NODE_HTTP = {
  name: 'node-http',
  resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => '\0node-http' },
  load: { filter: { id: /^\0node-http$/ }, handler: nodeHttp },
};
/** Loaded at its first call: that takes 30 ms, and few pages have a character that needs it. */
const LATE_STRING_WIDTH = {
  name: 'late-string-width',
  resolveId: {
    filter: { id: /^string-width$/ },
    handler: (_name, importer) => (importer?.startsWith('\0') ? null : '\0late-string-width'),
  },
  load: {
    filter: { id: /^\0late-string-width$/ },
    handler: () => "export default (text) => require('string-width').default(text);",
  },
};
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const nativeHttp = {
  from: dirname(fileURLToPath(import.meta.resolve('uWebSockets.js'))),
  to: join(dist, 'native-http'),
};

rmSync(dist, { recursive: true, force: true });
const workers = readdirSync(join(root, 'workers')).map((name) => `workers/${name}`);
const modules = await bundle(['src/cli/main.ts', ...workers], 'esm', 'js');
// Run by path, in processes of their own that have to start at once.
await bundle(['src/cli/hook/entry.cjs', 'src/platform/disk-child.cjs'], 'cjs', 'cjs');
copyNativeHttp();
buildBoard(join(dist, 'board'));
writeFileSync(join(dist, 'licenses.txt'), licenses([...modules, join(nativeHttp.from, 'index.mjs')]));
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
    external: [/^node:(?!http$)/, ...NATIVE, ...Object.keys(manifest.dependencies)],
    plugins: [{ name: 'native-http', resolveId: placeOfNativeHttp }, NODE_HTTP, LATE_STRING_WIDTH],
  });
  const { output } = await build.write({
    dir: dist,
    format,
    entryFileNames: `[name].${extension}`,
    // Every thread keeps the text of its modules in memory: one character of another script makes a text twice as large.
    comments: { legal: true, annotation: false, jsdoc: false },
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    // As deep as a room of `src/`, so that a path relative to a module holds in both. Named after a module and not its
    // contents: a daemon that runs while its package is replaced still finds what it loads late.
    chunkFileNames: ({ facadeModuleId, moduleIds }) =>
      `src/chunks/${nameOfChunk(facadeModuleId ?? moduleIds.at(-1))}.${extension}`,
  });
  await build.close();
  return output.flatMap((chunk) => chunk.moduleIds ?? []);
}

/**
 * Copies the native HTTP server as it is, but of its binaries only those that a pinned Node loads: its package has 24, of
 * 133 MB together.
 */
function copyNativeHttp() {
  const binaries = Object.keys(manifest.optionalDependencies).map(binaryBeside);
  for (const name of ['index.mjs', 'uws.mjs', ...binaries]) {
    const file = join(nativeHttp.from, name);
    if (!existsSync(file)) throw new Error(`the package cannot be built without ${file}`);
    cpSync(file, join(nativeHttp.to, name));
  }
}

/** Makes a bundle import the native HTTP server from its copy: all that imports it is a chunk, two folders deep. */
function placeOfNativeHttp(name) {
  return name === 'uWebSockets.js' ? { id: '../../native-http/index.mjs', external: true } : null;
}

function nodeHttp() {
  const values = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(
    ([, { value }]) => value !== undefined,
  );
  const names = values.map(([name]) => name).join(', ');
  return `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names} } = http;\n`;
}

/** The binary for the platform of this package of the pinned Node. */
function binaryBeside(pinnedNode) {
  const [platform, processor] = pinnedNode.split('-').slice(-2);
  return `bin/uws_${platform}_${processor}_${NODE_ABI}.node`;
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
  // What is linked into the binaries, which their package does not name.
  const linked = readFileSync(new URL('uws-licenses.txt', import.meta.url), 'utf8').trim();
  return [...[...folders].sort().map(licenseOf), linked].join('\n\n');
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
