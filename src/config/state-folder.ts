import { mkdirSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';

/**
 * Makes a folder of the data dir where it is missing. Throws the system error; does not create a missing parent, since a
 * data dir that was taken away must not come back half.
 */
export function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
