import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../../base/errors.ts';

/** No more than the end of such a file is read: what runs inside a worker may call its hooks very often. */
const MOST_BYTES = 512 * 1024;

/** The end of a file that hooks append to, as text; empty where there is none. */
export function endOfFile(path: string, most_bytes = MOST_BYTES): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, most_bytes));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}
