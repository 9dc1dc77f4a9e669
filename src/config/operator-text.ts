import { dirname } from 'node:path';
import type { z } from 'zod';
import { CodedError, isCoded, messageOf, systemCode } from '../base/errors.ts';
import { placeOf, readInput } from '../contract/read-input.ts';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { unansweredWords } from '../platform/disks.ts';
import { threadDisks } from '../platform/foreign-paths.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

/**
 * The text of an operator file, or null if it is missing. An unreadable file is `invalid_config`: to treat it as empty
 * would silently drop the operator's configuration. One on a disk that is known not to answer is `file_unavailable`.
 */
export function readOperatorText(file: string): string | null {
  if (threadDisks().isSilent(file))
    throw new CodedError('file_unavailable', unansweredWords(file, 'silent'), { details: { file } });
  try {
    return readRegularTextSync(file, READ_LIMITS.operator_file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (isCoded(error))
      throw new CodedError('invalid_config', error.message, { details: { file }, cause: error });
    throw new CodedError(
      'invalid_config',
      `${file} cannot be read (${systemCode(error) ?? messageOf(error)}); give the daemon's user read access to it`,
      { details: { file }, cause: error },
    );
  }
}

/** Writes an operator file atomically; creates a missing config dir. */
export function saveOperatorText(file: string, text: string): void {
  makeFolder(dirname(file));
  writeFileAtomic(file, text, { mode: 0o600 });
}

/** Parses operator text by a schema; `invalid_config` names `file`, the place in it and the expected value. */
export function parseOperatorText<S extends z.ZodType>(file: string, text: string, schema: S): z.output<S> {
  const read = readInput(schema, parseJson(file, text));
  if (read.success) return read.data;
  const [fault] = read.faults;
  const place = fault.path.length === 0 ? 'its top level' : placeOf(fault.path);
  throw new CodedError(
    'invalid_config',
    `${file} is not valid at ${place}: ${fault.message}; correct it, or remove the file`,
    { details: { file, place } },
  );
}

/** Deeper values overflow the stack when they are compared or copied. */
const MOST_DEPTH = 100;

function parseJson(file: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CodedError(
      'invalid_config',
      `${file} is not valid JSON (${messageOf(error)}); correct it, or remove the file`,
      { details: { file }, cause: error },
    );
  }
  if (depthOf(text) > MOST_DEPTH)
    throw new CodedError(
      'invalid_config',
      `${file} nests its values more than ${MOST_DEPTH} deep; correct it, or remove the file`,
      { details: { file } },
    );
  return value;
}

/** The nesting depth of a valid JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
