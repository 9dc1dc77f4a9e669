import { randomBytes } from 'node:crypto';

/** A text of 16 characters, letters and digits, that nobody can guess. */
export function newNonce(): string {
  return randomBytes(8).toString('hex');
}
