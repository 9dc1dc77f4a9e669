import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { noTrace } from '../kit/strace.ts';
import { type Injection, injecting } from '../search/syscalls/system-calls.ts';

const PLATFORM = fileURLToPath(new URL('../../src/platform/', import.meta.url));

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

/** Runs a script in a process of its own, of whose system calls one fails; what it printed as JSON. */
function underFault(injection: Injection, script: string): unknown {
  const [file = '', ...args] = [
    ...injecting(injection, join(scratch.path, 'trace')),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    script,
  ];
  const ran = spawnSync(file, args, { cwd: scratch.path, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  expect(readFileSync(join(scratch.path, 'trace'), 'utf8')).toContain('(INJECTED)');
  return JSON.parse(ran.stdout);
}

describe.skipIf(noTrace !== null)('a failing system call', () => {
  const write = (folder: string) => `
    import { writeFileAtomic } from '${PLATFORM}atomic-write.ts';
    try {
      writeFileAtomic('${folder}/file', 'new');
      console.log(null);
    } catch ({ code, message }) {
      console.log(JSON.stringify({ code, message }));
    }`;

  it('leaves the old content, no temporary file and an error that names the file', () => {
    const folder = scratch.mkdir('folder');
    const file = scratch.write('folder/file', 'old');
    const injection: Injection = { name: 'fsync', nth: 1, path: null, fault: 'EIO' };
    expect(underFault(injection, write(folder))).toEqual({
      code: 'EIO',
      message: `EIO: i/o error, fsync '${file}'`,
    });
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('after the new content is in place is reported as a durability error', () => {
    const folder = scratch.mkdir('folder');
    const file = scratch.write('folder/file', 'old');
    const injection: Injection = { name: 'fsync', nth: 1, path: folder, fault: 'EIO' };
    expect(underFault(injection, write(folder))).toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`${file} was written`),
    });
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  it('at the release of a lock neither reverts the work nor blocks the process', () => {
    const lock = join(scratch.mkdir('folder'), '.file.lock');
    const injection: Injection = { name: 'unlink', nth: 1, path: lock, fault: 'EACCES' };
    const script = `
      import { tryFileLock } from '${PLATFORM}file-lock.ts';
      tryFileLock('${lock}').release();
      const again = tryFileLock('${lock}');
      again?.release();
      console.log(JSON.stringify(again !== null));`;
    expect(underFault(injection, script)).toBe(true);
    expect(readdirSync(join(scratch.path, 'folder'))).toEqual([]);
  });

  it('at the draft of a lock does not prevent taking it', () => {
    const lock = join(scratch.mkdir('folder'), '.file.lock');
    const script = `
      import { tryFileLock } from '${PLATFORM}file-lock.ts';
      tryFileLock('${lock}').release();
      console.log(JSON.stringify(tryFileLock('${lock}') !== null));`;
    expect(underFault({ name: 'unlink', nth: 1, path: null, fault: 'EIO' }, script)).toBe(true);
  });
});
