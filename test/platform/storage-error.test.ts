import { expect, it } from 'vitest';
import { storageError } from '../../src/platform/storage-error.ts';

const failed = (code: string) => Object.assign(new Error(code), { code, errno: -1, syscall: 'write' });

it.each([
  ['ENOSPC', 'free space there and try again'],
  ['EFBIG', 'raise the limit (ulimit -f) and try again'],
  ['EMFILE', 'raise the limit (ulimit -n) and try again'],
  ['ENFILE', 'end programs that you do not need and try again'],
])('a write that fails with %s names the file, the effect and the fix', (code, mend) => {
  const told = storageError('/srv/file', failed(code), 'nothing was written');
  expect(told).toMatchObject({ code: 'storage_unavailable', details: { path: '/srv/file' } });
  expect((told as Error).message).toMatch(/^\/srv\/file cannot be written: .*; nothing was written; /);
  expect((told as Error).message).toContain(mend);
});

it('leaves an error alone that is none of a disk or a limit', () => {
  const other = failed('EPIPE');
  expect(storageError('/srv/file', other, 'nothing was written')).toBe(other);
});
