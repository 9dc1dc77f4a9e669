import { isAbsolute, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { expandHome } from './settings.ts';

/**
 * Makes a directory that a person typed absolute: expands `~`, resolves a relative path against `cwd`, resolves `.` and
 * `..`, and removes a trailing slash. Symlinks are kept, so that a document with `~/dev/current` follows the link when
 * it changes. Reads no file system. Throws `invalid_request` for a relative one without a `cwd`, another user's `~`, or
 * control characters.
 */
export function resolveDirectory(text: string, cwd: string | null): string {
  const given = text.trim();
  if (given === '') throw new CodedError('invalid_request', 'the directory is empty; give a path');
  if (holdsControlCharacters(given))
    throw new CodedError('invalid_request', 'the directory contains control characters; remove them');
  const expanded = expandHome(given);
  if (expanded.startsWith('~'))
    throw new CodedError(
      'invalid_request',
      `"${given}" is the home of another user; write its absolute path (or ./${given} for a folder of that name)`,
    );
  if (isAbsolute(expanded)) return resolve(expanded);
  if (cwd === null)
    throw new CodedError('invalid_request', `project_dir "${given}" must be an absolute path`);
  return resolve(cwd, expanded);
}

/**
 * True for a text with control characters: NUL ends a path, and the others are not shown as they are on terminals and
 * in logs.
 */
export function holdsControlCharacters(path: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(path);
}
