import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The absolute path of a program on a PATH; null without one. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | null {
  const files = path.split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => isProgram(file)) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
