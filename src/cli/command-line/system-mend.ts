import { systemCode } from '../../base/errors.ts';

const MENDS: Readonly<Record<string, string>> = {
  EACCES: 'give yourself the right to it, or run this as the user who owns it',
  EPERM: 'give yourself the right to it, or run this as the user who owns it',
  EROFS: 'that disk can only be read; make it writable, or choose a place elsewhere',
  ENOSPC: 'the disk is full; make room and run this again',
  EIO: 'the disk fails; look into the log of the system and save what is on it',
  EFBIG: 'the file would grow over the limit for files (ulimit -f); raise it',
  EDQUOT: 'your share of the disk is full; make room and run this again',
  EEXIST: 'something else lies in its place; move it away',
  ENOTDIR: 'a part of that path is no folder; move it away, or choose another path',
  EISDIR: 'a folder lies in its place; move it away',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine; end what does not need them',
};

/** What a person can do about a refusal of the system that nobody foresaw; null where that is not known. */
export function systemMend(error: unknown): string | null {
  return MENDS[systemCode(error) ?? ''] ?? null;
}
