import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FOLDER = join(tmpdir(), `svc-fuzz-${process.pid}`);
process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }));

/** Writes a file of this process's own and answers its path; the same name names the same path each time. */
export function ownFile(name: string, content: Uint8Array): string {
  const path = join(FOLDER, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** A path below this process's own folder where nothing lies. */
export function ownPath(name: string): string {
  const path = join(FOLDER, name);
  rmSync(path, { recursive: true, force: true });
  return path;
}
