import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FIBERS_FOLDER } from './fiber-id.ts';

/**
 * The identity of a store on disk, the same for every path to it. Throws the system error if the store is not
 * accessible.
 */
export function identifyStore(root: string): string {
  const { dev, ino } = statSync(join(root, FIBERS_FOLDER), { bigint: true });
  return `${dev}:${ino}`;
}
