import { systemCode } from '../../base/errors.ts';

const MENDS: Readonly<Record<string, string>> = {
  EACCES: 'give yourself permission, or run this as the user who owns it',
  EPERM: 'give yourself permission, or run this as the user who owns it',
  EROFS: 'that file system is read-only; remount it writable, or choose another place',
  ENOSPC: 'the disk is full; free space and run this again',
  EIO: 'the disk reports an error; check the system log and back up the disk',
  EFBIG: 'the file would grow over the limit for files (ulimit -f); raise it',
  EDQUOT: 'your disk quota is used up; free space and run this again',
  EEXIST: 'another file has that path; move it away',
  ENOTDIR: 'a part of that path is not a folder; move it away, or choose another path',
  EISDIR: 'a folder has that path; move it away',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine; end programs that you do not need',
};

/** The fix for a system error that no other code handles; null if none is known. */
export function systemMend(error: unknown): string | null {
  return MENDS[systemCode(error) ?? ''] ?? null;
}
