import { hash } from 'node:crypto';

/** The SHA-256 of bytes, or of a text as UTF-8, in hexadecimal. */
export function sha256Of(of: string | Uint8Array): string {
  return hash('sha256', of, 'hex');
}
