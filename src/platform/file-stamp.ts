import type { BigIntStats } from 'node:fs';

/** Identity and state of the file at a path. Numbers that may exceed 2^53 are decimal strings. */
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

/** True if both stamps are of the same file on disk, even if it was written in between. */
export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** True if the stamps show no write in between. */
export function isSameState(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.size === b.size && a.mtime_ns === b.mtime_ns && a.ctime_ns === b.ctime_ns;
}
