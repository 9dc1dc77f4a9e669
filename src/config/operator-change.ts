import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { CodedError, systemCode } from '../base/errors.ts';
import { syncFolder, writeFileAtomic } from '../platform/atomic-write.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularFileSync } from '../platform/regular-file.ts';
import { readOperatorText } from './operator-text.ts';

/** A planned change of one operator file, not yet made; a null text means no file. */
export type OperatorChange = { file: string; before: string | null; after: string | null };

/** The digest of a text, as exchanged with clients; a missing file counts as an empty text (OPF-6). */
export function digestOf(text: string | null): string {
  return sha256Of(text ?? '');
}

/** Throws `conflict` if the file has changed since the client read it (OPF-6, ERR-12). */
export function requireDigest(file: string, text: string | null, expected: string | undefined): void {
  const digest = digestOf(text);
  if (expected === undefined || expected === digest) return;
  throw new CodedError(
    'conflict',
    `${file} has changed since it was read; read it again and decide what to keep`,
    { details: { conflict: true, digest } },
  );
}

/**
 * The text of a file that is to be replaced; of bytes that are not UTF-8, what can be read of them. Throws `conflict` if the
 * file has changed since the client read it, as it has where it cannot be read.
 */
export function readReplaced(file: string, expected: string | undefined): string | null {
  const text = readOperatorText(file);
  if (isExact(file, text)) requireDigest(file, text, expected);
  else if (expected !== undefined)
    throw new CodedError(
      'conflict',
      `${file} has changed since it was read, and is not UTF-8 text now; leave out expected_digest to replace it`,
      { details: { conflict: true } },
    );
  return text;
}

/**
 * Makes a planned change atomically; the caller holds the file's lock. Throws `conflict` if the file has changed since.
 */
export function commitChange({ file, before, after }: OperatorChange): void {
  if (readOperatorText(file) !== before) requireDigest(file, readOperatorText(file), digestOf(before));
  if (after === null) {
    if (before === null) return;
    rmSync(file, { force: true });
    syncFolder(dirname(file));
  } else if (after !== before) {
    makeFolder(dirname(file));
    writeFileAtomic(file, after, { mode: 0o600 });
  }
}

/**
 * The text of an operator file; throws `invalid_config` if its bytes are not UTF-8, because a client could not send
 * them back.
 */
export function readExactText(file: string): string | null {
  const text = readOperatorText(file);
  if (isExact(file, text)) return text;
  throw new CodedError(
    'invalid_config',
    `${file} is not UTF-8 text; rewrite it with an editor, or send a whole new text`,
    { details: { file } },
  );
}

/** True if a text that was read from a file encodes to the bytes of the file. */
function isExact(file: string, text: string | null): boolean {
  if (text === null || !text.includes('\ufffd')) return true;
  try {
    return readRegularFileSync(file, READ_LIMITS.operator_file).equals(Buffer.from(text));
  } catch (error) {
    // It was removed since.
    if (systemCode(error) === 'ENOENT') return true;
    throw error;
  }
}
