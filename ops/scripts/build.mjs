// Builds `dist/`, what the package runs from: the sources and the thread entries as JavaScript, and the build stamp.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const dist = new URL('dist/', root);

rmSync(dist, { recursive: true, force: true });
const result = spawnSync(
  process.execPath,
  [
    createRequire(import.meta.url).resolve('typescript/bin/tsc'),
    '--project',
    fileURLToPath(new URL('tsconfig.build.json', import.meta.url)),
  ],
  { cwd: fileURLToPath(root), stdio: 'inherit' },
);
if (result.status === 0) {
  const { readBuildStamp } = await import(new URL('src/platform/build-stamp.js', dist).href);
  writeFileSync(new URL('build.json', dist), `${JSON.stringify(readBuildStamp())}\n`);
} else {
  process.exitCode = 1;
}
