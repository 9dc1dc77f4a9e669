import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Entry = { version?: string; optionalDependencies?: Record<string, string> };
const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Entry>;
};

/** Every place where Node looks for a package that `path` wants, nearest first. */
function places(path: string, name: string): string[] {
  const parts = path === '' ? [] : path.split('/node_modules/');
  const folders = parts.map((_, index) => parts.slice(0, parts.length - index).join('/node_modules/'));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

// `npm ci` refuses a lock file that was written where a registry lacks the binaries of other platforms.
it('the lock file names the optional packages of every platform', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !places(path, name).some((place) => place in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
});
