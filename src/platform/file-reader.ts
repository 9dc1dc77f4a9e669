import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { fileChanged, fileError, notAFile } from './file-error.ts';
import { type FileStamp, isSameFile, stampOf } from './file-stamp.ts';

/** What lies at a path. */
export type FileLook =
  | { kind: 'missing' }
  | { kind: 'file'; stamp: FileStamp; mtime_ms: number }
  | { kind: 'directory'; mtime_ms: number }
  | { kind: 'other'; mtime_ms: number };

/** Reads regular files for a thread that may not wait for a disk. */
export type FileReader = {
  /** Throws `file_unreadable` or `file_unavailable` where the system does not tell. */
  look(path: string): Promise<FileLook>;
  /** The stamp of a regular file that may be read; throws `file_not_found`, `not_a_file` or as `look`. */
  stamp(path: string): Promise<{ stamp: FileStamp; mtime_ms: number }>;
  /** The first bytes, at most `most`. */
  head(path: string, stamp: FileStamp, most: number): Promise<Uint8Array>;
  /**
   * The bytes `[from, end)` of the very file that the stamp names, in chunks, each lent until the next
   * one is asked for. Throws `file_changed` when the path names another file by now, or when the file ends before
   * `end`.
   */
  read(path: string, stamp: FileStamp, from: number, end: number): AsyncGenerator<Uint8Array>;
};

/** Large enough that a file of gigabytes is not a matter of turns, small enough that one chunk is no pause. */
const CHUNK_BYTES = 256 * 1024;
/** The system's file threads are four for the whole process; a disk that hangs must leave some to the others. */
const MOST_AT_ONCE = 3;
/** How long one step may wait for its turn and for the disk, in milliseconds. */
const STEP_MS = 10_000;

/** A reader that has at most three steps at the disk at any time. */
export function createFileReader(clock: Clock): FileReader {
  const turns = new DiskTurns(clock);
  const step = async <T>(
    path: string,
    run: () => Promise<T>,
    discard: (late: T) => void = () => undefined,
  ): Promise<T> => {
    try {
      return await turns.take(path, run, discard);
    } catch (error) {
      throw fileError(path, error);
    }
  };

  const look = async (path: string): Promise<FileLook> => {
    let stats: BigIntStats;
    try {
      stats = await step(path, () => stat(path, { bigint: true }));
    } catch (error) {
      if (error instanceof CodedError && error.code === 'file_not_found') return { kind: 'missing' };
      throw error;
    }
    const mtime_ms = Number(stats.mtimeMs);
    if (stats.isFile()) return { kind: 'file', stamp: stampOf(stats), mtime_ms };
    return { kind: stats.isDirectory() ? 'directory' : 'other', mtime_ms };
  };

  /** Opens the file that was stamped; never one that would wait, or that opening does something to. */
  const openStamped = async (path: string, stamp: FileStamp): Promise<FileHandle> => {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    const file = await step(
      path,
      () => open(path, flags),
      (late) => void late.close(),
    );
    try {
      const stats = await step(path, () => file.stat({ bigint: true }));
      if (!stats.isFile() || !isSameFile(stampOf(stats), stamp)) throw fileChanged(path);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  };

  return {
    look,
    async stamp(path) {
      const found = await look(path);
      if (found.kind === 'missing') throw new CodedError('file_not_found', `there is no file ${path}`);
      if (found.kind === 'file') return { stamp: found.stamp, mtime_ms: found.mtime_ms };
      throw notAFile(path, found.kind === 'directory' ? 'a folder' : 'a pipe, a socket or a device');
    },
    async head(path, stamp, most) {
      const file = await openStamped(path, stamp);
      try {
        const bytes = new Uint8Array(Math.min(most, stamp.size));
        const { bytesRead } = await step(path, () => file.read(bytes, 0, bytes.length, 0));
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    async *read(path, stamp, from, end) {
      if (from >= end) return;
      const file = await openStamped(path, stamp);
      const room = Math.min(CHUNK_BYTES, end - from);
      const chunkAt = (at: number, into: Uint8Array) =>
        step(path, async () => {
          const { bytesRead } = await file.read(into, 0, Math.min(room, end - at), at);
          return into.subarray(0, bytesRead);
        });
      // Two buffers for all of it: a new one for each chunk would keep the engine busy collecting them.
      let free: Buffer = Buffer.allocUnsafeSlow(room);
      let lent: Buffer | null = null;
      let next: Promise<Uint8Array> | null = null;
      try {
        let at = from;
        next = chunkAt(at, free);
        while (next !== null) {
          const chunk: Uint8Array = await next;
          next = null;
          if (chunk.length === 0) throw fileChanged(path);
          at += chunk.length;
          // The disk reads on while the network takes this chunk.
          if (at < end) {
            [free, lent] = [lent ?? Buffer.allocUnsafeSlow(room), free];
            next = chunkAt(at, free);
            next.catch(() => undefined);
          }
          yield chunk;
        }
      } finally {
        // A step that is under way holds the file; closing waits for it, and nobody waits for that.
        void Promise.resolve(next)
          .catch(() => undefined)
          .then(() => file.close())
          .catch(() => undefined);
      }
    },
  };
}

/** A bound on the steps at the disk; who waits too long is told so, and a step that hangs keeps its place. */
class DiskTurns {
  #clock: Clock;
  #taken = 0;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `discard` gets what came after its time. */
  take<T>(path: string, run: () => Promise<T>, discard: (late: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let late = false;
      const begin = () => {
        if (late) {
          this.#leave();
          return;
        }
        run()
          .then((value) => (late ? discard(value) : resolve(value)), reject)
          .finally(() => {
            cancel();
            this.#leave();
          });
      };
      const cancel = this.#clock.after(STEP_MS, () => {
        late = true;
        reject(
          new CodedError(
            'deadline_exceeded',
            `the disk did not answer for ${path} within ${STEP_MS} ms; try again`,
          ),
        );
      });
      if (this.#taken < MOST_AT_ONCE) {
        this.#taken += 1;
        begin();
      } else this.#waiting.push(begin);
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
