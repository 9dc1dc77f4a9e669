import type { PathCheck } from '../../platform/disks.ts';

/** What the disk says of a directory; `real` is its path with links resolved. */
export type DirectoryLook =
  | { kind: 'directory'; real: string }
  | { kind: 'not_directory' }
  | { kind: 'missing' }
  | { kind: 'unreadable'; detail: string }
  /** Its own disk did not answer; `place` is what did not: a mount, or this one path. */
  | { kind: 'silent'; after_ms: number; place: string }
  /** Other looks had every turn: no answer about this directory. */
  | { kind: 'unchecked' };

/** What a look at a path says of a directory. */
export function directoryLook(look: PathCheck): DirectoryLook {
  return look.kind === 'file' || look.kind === 'other' ? { kind: 'not_directory' } : (look as DirectoryLook);
}
