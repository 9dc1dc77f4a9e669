import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let found: string | undefined;

/** Folder of the package, the same for sources (`src/…`) and for the build (`dist/src/…`). */
export function packageRoot(): string {
  found ??= findManifest(dirname(fileURLToPath(import.meta.url)));
  return found;
}

function findManifest(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json of Fiber Dispatch is missing');
  return findManifest(parent);
}
