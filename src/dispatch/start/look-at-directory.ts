import type { PathCheck } from '../../platform/disks.ts';
import type { DirectoryLook } from '../world.ts';

/** What a look at a path says of a directory. */
export function directoryLook(look: PathCheck): DirectoryLook {
  return look.kind === 'file' || look.kind === 'other' ? { kind: 'not_directory' } : (look as DirectoryLook);
}
