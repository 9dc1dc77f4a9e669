import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryFileLock } from '../../src/platform/file-lock.ts';
import {
  openRegularFile,
  openRegularFileSync,
  readRegularFile,
  readRegularFileSync,
  readWholeSync,
  realPathOfSync,
} from '../../src/platform/regular-file.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const LIMIT = 1_000;
const ON_LINUX = process.platform === 'linux';

let scratch: ScratchFolder;
const at = (name: string) => `${scratch.path}/${name}`;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const READERS = [
  { name: 'readRegularFileSync', read: async (path: string) => readRegularFileSync(path, LIMIT) },
  { name: 'readRegularFile', read: (path: string) => readRegularFile(path, LIMIT) },
];
const OPENERS = [
  { name: 'openRegularFileSync', open: async (path: string) => closeSync(openRegularFileSync(path).fd) },
  { name: 'openRegularFile', open: async (path: string) => (await openRegularFile(path)).file.close() },
];

describe.each(READERS)('$name', ({ read }) => {
  it.each([0, 1, LIMIT - 1, LIMIT])('reads a file of %d bytes', async (size) => {
    const bytes = Buffer.alloc(size, 'x');
    writeFileSync(at('file'), bytes);
    expect((await read(at('file'))).equals(bytes)).toBe(true);
  });

  it('refuses a file one byte above the limit, and one that only claims to be large', async () => {
    writeFileSync(at('long'), Buffer.alloc(LIMIT + 1));
    await expect(read(at('long'))).rejects.toMatchObject({ code: 'file_too_large' });
    writeFileSync(at('sparse'), '');
    truncateSync(at('sparse'), 4 * 1024 ** 4);
    await expect(read(at('sparse'))).rejects.toMatchObject({ code: 'file_too_large' });
  });

  it('follows a link to a regular file', async () => {
    writeFileSync(at('file'), 'text');
    symlinkSync(at('file'), at('link'));
    expect((await read(at('link'))).toString()).toBe('text');
  });

  it('reports a missing file by the system error code', async () => {
    await expect(read(at('nowhere'))).rejects.toMatchObject({ code: 'ENOENT', syscall: 'stat' });
  });
});

describe.each(OPENERS)('$name', ({ open }) => {
  const refused = (kind: RegExp) => ({ code: 'not_a_file', message: expect.stringMatching(kind) });

  it('refuses a named pipe, with a writer and without', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await expect(open(at('pipe'))).rejects.toMatchObject(refused(/is a named pipe, not a regular file/));
    const writer = openSync(at('pipe'), constants.O_RDWR | constants.O_NONBLOCK);
    await expect(open(at('pipe'))).rejects.toMatchObject(refused(/named pipe/));
    closeSync(writer);
  });

  it('refuses a folder, a socket, a device, and links to them', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(at('socket'), listening));
    symlinkSync('/dev/zero', at('zeros'));
    await expect(open(scratch.path)).rejects.toMatchObject(refused(/is a folder/));
    await expect(open(at('socket'))).rejects.toMatchObject(refused(/is a socket/));
    await expect(open(at('zeros'))).rejects.toMatchObject(refused(/is a device/));
    await new Promise((closed) => server.close(closed));
  });

  it
    .skipIf(!ON_LINUX)
    .each([
      '/proc/self/pagemap',
      '/proc/self/environ',
      '/proc/kmsg',
      '/proc/version',
      '/sys/kernel/mm/transparent_hugepage/enabled',
      '/sys/fs/cgroup/memory/tasks',
      '/sys/fs/cgroup/cgroup.procs',
    ])('refuses %s, which the system reports as a regular file', async (path) => {
    if (!existsSync(path)) return;
    symlinkSync(path, at('link'));
    for (const name of [path, at('link')])
      await expect(open(name)).rejects.toMatchObject({
        code: expect.stringMatching(/^(not_a_file|EACCES|EPERM)$/),
      });
    // Root may open every one of them.
    if (process.getuid?.() === 0)
      await expect(open(path)).rejects.toMatchObject(refused(/a file of the kernel/));
  });

  it('opens an empty file', async () => {
    writeFileSync(at('empty'), '');
    await open(at('empty'));
  });
});

describe('readWholeSync', () => {
  it('reads at most one byte beyond the limit of a file that grows after it was opened', () => {
    writeFileSync(at('grows'), 'short');
    const file = openRegularFileSync(at('grows'));
    appendFileSync(at('grows'), Buffer.alloc(LIMIT - 5));
    expect(readWholeSync(at('grows'), file, LIMIT)).toHaveLength(LIMIT);
    appendFileSync(at('grows'), Buffer.alloc(4 * 1024 * 1024));
    expect(() => readWholeSync(at('grows'), file, LIMIT)).toThrow(
      expect.objectContaining({ code: 'file_too_large' }),
    );
    closeSync(file.fd);
  });
});

describe('realPathOfSync', () => {
  it('reports the path of the open file, whatever its old path refers to now', () => {
    scratch.write('inside/file', 'text');
    scratch.write('other', 'other');
    symlinkSync(at('inside/file'), at('link'));
    linkSync(at('inside/file'), at('hard'));
    const file = openRegularFileSync(at('link'));
    expect(realPathOfSync(at('link'), file)).toBe(at('inside/file'));
    const hard = openRegularFileSync(at('hard'));
    expect(realPathOfSync(at('hard'), hard)).toBe(at('hard'));
    symlinkSync(at('other'), at('new-link'));
    renameSync(at('new-link'), at('link'));
    if (ON_LINUX) expect(realPathOfSync(at('link'), file)).toBe(at('inside/file'));
    else expect(() => realPathOfSync(at('link'), file)).toThrow('changed');
    closeSync(file.fd);
    closeSync(hard.fd);
  });

  it.skipIf(!ON_LINUX)('reports the old path of a file that was replaced while it was open', () => {
    writeFileSync(at('file'), 'old');
    const file = openRegularFileSync(at('file'));
    writeFileSync(at('new'), 'new');
    renameSync(at('new'), at('file'));
    expect(realPathOfSync(at('file'), file)).toBe(at('file'));
    closeSync(file.fd);
  });
});

describe('a lock', () => {
  it('whose file is a named pipe has no known holder and blocks no reader', () => {
    execFileSync('mkfifo', [at('.lock')]);
    expect(tryFileLock(at('.lock'))).toBeNull();
  });
});
