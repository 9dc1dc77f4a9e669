import { isAbsolute, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { expandHome } from './settings.ts';

/**
 * A directory as a person names it, made absolute: `~` is the home folder, a relative one starts at `cwd`, `.` and
 * `..` are worked out, a slash at the end goes. Links stay as they are named, so that a document that says
 * `~/dev/current` follows it wherever it leads. Reads nothing. Throws `invalid_request` for a relative one without
 * a `cwd`, another user's `~`, or control characters.
 */
export function resolveDirectory(text: string, cwd: string | null): string {
  const given = text.trim();
  if (given === '') throw new CodedError('invalid_request', 'the directory is an empty text; name one');
  if (holdsControlCharacters(given))
    throw new CodedError('invalid_request', 'the directory holds control characters; name it without them');
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

/** True for a text that names no directory: a NUL ends a path, and no terminal or log shows the others as they are. */
export function holdsControlCharacters(path: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(path);
}
