import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFolder } from '../../src/platform/make-folder.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

it('makes a folder and its missing ancestors, only for its owner, and leaves an existing one unchanged', () => {
  const path = join(scratch.path, 'a b/ü/c');
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(scratch.path, 'a b')).mode & 0o777).toBe(0o700);
  makeFolder(path);
  makeFolder(scratch.path);
});

it('throws the system error for a path that exists as a file or is below a file', () => {
  const file = join(scratch.path, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'below'))).toThrow('ENOTDIR');
});

it.skipIf(!existsSync('/proc/self'))('returns if the system accepts no new name at all', () => {
  expect(() => makeFolder('/proc/svc/data')).toThrow('ENOENT');
});
