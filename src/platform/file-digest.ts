import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { isCoded } from '../base/errors.ts';
import { fileChanged, fileError } from './file-error.ts';
import { type FileStamp, isSameFile, isSameState, stampOf } from './file-stamp.ts';
import { openRegularFileSync } from './regular-file.ts';

const CHUNK_BYTES = 1024 * 1024;

/** A write this recent may be followed by another one with the same timestamp, in nanoseconds. */
const SETTLING_NS = 2_000_000_000n;

/**
 * SHA-256 of the first `stamp.size` bytes of a file, for a pool thread: it reads synchronously and in constant memory.
 * `settled`: the file still matches the stamp and was not written recently, so the digest may be cached under the
 * stamp. Throws `file_changed` if the path now names another or a shorter file, else the errors of `fileError`.
 */
export function digestFile(
  path: string,
  stamp: FileStamp,
  now: number = Date.now(),
): { sha256: string; settled: boolean } {
  const { fd } = read_(path, () => openRegularFileSync(path));
  try {
    const before = stampOf(read_(path, () => fstatSync(fd, { bigint: true })));
    if (!isSameFile(before, stamp) || before.size < stamp.size) throw fileChanged(path);
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, stamp.size)));
    for (let read = 0; read < stamp.size; ) {
      const wanted = Math.min(chunk.length, stamp.size - read);
      const got = read_(path, () => readSync(fd, chunk, 0, wanted, read));
      if (got === 0) throw fileChanged(path);
      hash.update(got === chunk.length ? chunk : chunk.subarray(0, got));
      read += got;
    }
    const after = stampOf(read_(path, () => fstatSync(fd, { bigint: true })));
    const settled =
      isSameState(after, stamp) && BigInt(stamp.mtime_ns) + SETTLING_NS < BigInt(now) * 1_000_000n;
    return { sha256: hash.digest('hex'), settled };
  } finally {
    closeSync(fd);
  }
}

function read_<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw isCoded(error) ? error : fileError(path, error);
  }
}
