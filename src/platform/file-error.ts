import { CodedError, systemCode } from '../base/errors.ts';

/** Turns the system error of a path into the error of the answer. */
export function fileError(path: string, error: unknown): CodedError {
  const code = systemCode(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new CodedError('file_not_found', `there is no file ${path}`, { cause: error });
    case 'ENAMETOOLONG':
      return new CodedError(
        'file_not_found',
        'the path is longer than the system allows for a file; shorten it',
        { cause: error },
      );
    case 'ELOOP':
      return new CodedError('file_not_found', `the symbolic links of ${path} form a loop; correct them`, {
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
      return new CodedError(
        'file_unreadable',
        `the user of the daemon may not read ${path}; give that user read permission`,
        {
          cause: error,
        },
      );
    case undefined:
      throw error;
    default:
      return new CodedError('file_unavailable', `${path} cannot be read now (${code}); try again`, {
        cause: error,
      });
  }
}

/** The refusal of anything but a regular file: reading it could block, never end, or have side effects. */
export function notAFile(path: string, kind: string): CodedError {
  return new CodedError('not_a_file', `${path} is ${kind}, not a regular file; only a regular file is read`, {
    details: { kind },
  });
}

/** The refusal of a file that was replaced or shortened while it was read. */
export function fileChanged(path: string): CodedError {
  return new CodedError('file_changed', `${path} was changed while it was read; try again`);
}

/** A system error with the path of its file in the message, which errors of calls on an open file lack. */
export function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && systemCode(error) !== undefined && !('path' in error))
    Object.assign(error, { path, message: `${error.message} '${path}'` });
  return error;
}
