import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/**
 * The SHA-256 of bytes in hexadecimal digits. The browser’s own is for secure contexts alone, which the board over plain
 * HTTP from elsewhere is not.
 */
export function digestOf(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}
