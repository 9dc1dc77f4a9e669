import { expect, it } from 'vitest';
import { fileError } from '../../src/platform/file-error.ts';

const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'open' });

it.each([
  ['ENOENT', 'file_not_found'],
  ['ENOTDIR', 'file_not_found'],
  ['ELOOP', 'file_not_found'],
  ['ENAMETOOLONG', 'file_not_found'],
  ['EACCES', 'file_unreadable'],
  ['EPERM', 'file_unreadable'],
  ['EIO', 'file_unavailable'],
  ['ESTALE', 'file_unavailable'],
])('[RPL-10] maps the system error of a path: %s is %s', (system, code) => {
  expect(fileError('/srv/a', systemError(system))).toMatchObject({ code });
});

it('returns any other error unchanged', () => {
  const fault = new TypeError('a fault');
  expect(() => fileError('/srv/a', fault)).toThrow(fault);
});
