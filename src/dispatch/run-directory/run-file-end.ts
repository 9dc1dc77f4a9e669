import { closeSync } from 'node:fs';
import { systemCode } from '../../base/errors.ts';
import { type OpenFile, openRegularFileSync, readAtSync } from '../../platform/regular-file.ts';

/** No more than the end of such a file is read: what runs inside a worker may call its hooks very often. */
const MOST_BYTES = 512 * 1024;

/** The end of a file that hooks append to, as text; empty where there is none. */
export function endOfFile(path: string, most_bytes = MOST_BYTES): string {
  let file: OpenFile;
  try {
    file = openRegularFileSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = file.stats;
    const bytes = Buffer.alloc(Math.min(size, most_bytes));
    return readAtSync(file.fd, bytes, size - bytes.length).toString('utf8');
  } finally {
    closeSync(file.fd);
  }
}
