import { statfsSync } from 'node:fs';

/** Whether the disk of this folder takes no further file of this user. A file system without figures is not called full. */
export function isDiskFull(folder: string): boolean {
  const { blocks, bavail, files, ffree } = statfsSync(folder);
  return (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0);
}
