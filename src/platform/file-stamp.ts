import type { BigIntStats } from 'node:fs';

/** Which file a path named, and in what state; numbers that may exceed 2^53 in decimal. */
export type FileStamp = {
  dev: string;
  ino: string;
  /** Bytes. */
  size: number;
  /** Nanoseconds since the Unix epoch. */
  mtime_ns: string;
  ctime_ns: string;
};

export function stampOf(stats: BigIntStats): FileStamp {
  return {
    dev: String(stats.dev),
    ino: String(stats.ino),
    size: Number(stats.size),
    mtime_ns: String(stats.mtimeNs),
    ctime_ns: String(stats.ctimeNs),
  };
}

/** True when both are the same file on disk, whatever was written to it between them. */
export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** True when nothing can be seen to have been written between them. */
export function isSameState(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.size === b.size && a.mtime_ns === b.mtime_ns && a.ctime_ns === b.ctime_ns;
}
