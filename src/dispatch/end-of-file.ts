import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';

/** At most the last bytes of a file as text; empty where there is no file. Other errors are thrown. */
export function endOfFile(path: string, most_bytes: number): string {
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
