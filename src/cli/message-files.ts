import { basename, resolve } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { CodedError, systemCode } from '../base/errors.ts';
import {
  attachmentsSchema,
  type FileMessageRequest,
  MOST_FILES,
  MOST_FILES_BYTES,
} from '../contract/http/message-files.ts';
import { readRegularFileSync } from '../platform/regular-file.ts';

/** Reads the files of a message; each is sent under the last part of its path. Throws what `/messages/files` would. */
export function readMessageFiles(paths: readonly string[], cwd: string): FileMessageRequest['attachments'] {
  if (paths.length > MOST_FILES)
    throw invalid(
      `${paths.length} files were given; a message takes ${MOST_FILES}, so send the others in another one`,
    );
  let room = MOST_FILES_BYTES;
  const files = paths.map((path) => {
    const bytes = readFile(resolve(cwd, path), room);
    room -= bytes.length;
    const sha256 = sha256Of(bytes);
    return { name: basename(path), data: bytes.toString('base64'), sha256 };
  });
  const issue = attachmentsSchema.safeParse(files).error?.issues[0];
  if (issue === undefined) return files;
  throw invalid(`the name of ${paths[Number(issue.path[0])]} ${issue.message}`);
}

function readFile(path: string, room: number): Buffer {
  try {
    return readRegularFileSync(path, room);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new CodedError('file_not_found', `there is no file ${path}; check the path`, { cause: error });
    if (error instanceof CodedError && error.code === 'file_too_large')
      throw invalid(
        `with ${path} the files have more than the ${MOST_FILES_BYTES} bytes that a message takes; name the path in the text instead`,
      );
    throw error;
  }
}

function invalid(message: string): CodedError {
  return new CodedError('invalid_request', message);
}
