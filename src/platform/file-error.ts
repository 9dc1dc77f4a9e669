import { CodedError, systemCode } from '../base/errors.ts';

/** The error that the answer about one path carries, of what the system said about it. */
export function fileError(path: string, error: unknown): CodedError {
  const code = systemCode(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new CodedError('file_not_found', `there is no file ${path}`, { cause: error });
    case 'ENAMETOOLONG':
      return new CodedError('file_not_found', 'no file can have a path that long', { cause: error });
    case 'ELOOP':
      return new CodedError('file_not_found', `the links of ${path} lead nowhere`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new CodedError('file_unreadable', `the user of the daemon may not read ${path}`, {
        cause: error,
      });
    case undefined:
      throw error;
    default:
      return new CodedError('file_unavailable', `${path} cannot be read now (${code}); try again`, {
        cause: error,
      });
  }
}

/** The refusal of what is no regular file: reading it could wait for ever, never end, or do something. */
export function notAFile(path: string, kind: string): CodedError {
  return new CodedError('not_a_file', `${path} is ${kind}, not a regular file; only a regular file is read`, {
    details: { kind },
  });
}

/** The refusal of a path that names another file than a moment ago, or a shorter one. */
export function fileChanged(path: string): CodedError {
  return new CodedError('file_changed', `${path} was changed while it was read; try again`);
}

/**
 * A system error that names the file which it is about: calls on an open file give none, and what they say alone
 * tells nobody where to look.
 */
export function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && systemCode(error) !== undefined && !('path' in error))
    Object.assign(error, { path, message: `${error.message} '${path}'` });
  return error;
}
