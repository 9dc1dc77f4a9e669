import { readdirSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';

/** The names in a folder; none where there is no such folder. Throws the system error if it cannot be read. */
export function folderNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The names in a folder; none where it cannot be read. */
export function readableFolderNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}
