import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FIBERS_FOLDER } from './fiber-id.ts';

/** What a store is on disk, the same for every path that leads to it. Throws the system error of a store that is away. */
export function identifyStore(root: string): string {
  const { dev, ino } = statSync(join(root, FIBERS_FOLDER), { bigint: true });
  return `${dev}:${ino}`;
}
