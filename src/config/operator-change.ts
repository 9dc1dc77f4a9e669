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
  if (text === null || !text.includes('\ufffd')) return text;
  try {
    if (readRegularFileSync(file, READ_LIMITS.operator_file).equals(Buffer.from(text))) return text;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  throw new CodedError('invalid_config', `${file} is not UTF-8 text; rewrite it with an editor`, {
    details: { file },
  });
}
