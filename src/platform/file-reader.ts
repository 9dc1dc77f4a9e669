import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Disks } from './disks.ts';
import { fileChanged, fileError, notAFile } from './file-error.ts';
import { type FileStamp, isSameFile, stampOf } from './file-stamp.ts';

/** What is at a path. */
type FileStat =
  | { kind: 'missing' }
  | { kind: 'file'; stamp: FileStamp; mtime_ms: number }
  | { kind: 'directory'; mtime_ms: number }
  | { kind: 'other'; mtime_ms: number };

/** Reads regular files for a thread that must not block on a disk. */
export type FileReader = {
  /** Throws `file_unreadable` or `file_unavailable` on a system error. */
  stat(path: string): Promise<FileStat>;
  /** The stamp of a regular file that may be read; throws `file_not_found`, `not_a_file`, or the errors of `stat`. */
  stamp(path: string): Promise<{ stamp: FileStamp; mtime_ms: number }>;
  /** The first bytes, at most `most`. */
  head(path: string, stamp: FileStamp, most: number): Promise<Uint8Array>;
  /**
   * The bytes `[from, end)` of the file that the stamp identifies, in chunks. A chunk is valid only until the next one
   * is requested. Throws `file_changed` if the path now names another file, or if the file ends before `end`.
   */
  read(path: string, stamp: FileStamp, from: number, end: number): AsyncGenerator<Uint8Array>;
};

/** The part of `Disks` that a reader uses. */
export type ReadDisks = Pick<Disks, 'prove' | 'answered' | 'unanswered' | 'mountOf'>;

/**
 * Chunk size: large enough to read gigabytes in few steps, small enough that one chunk does not block the event loop.
 */
const CHUNK_BYTES = 256 * 1024;
/** Node has four file system threads for the whole process; file reads may use three of them. */
const MOST_AT_ONCE = 3;
/** How many of these one disk may occupy, in case it stops answering during a step. */
const MOST_A_DISK = { local: 2, remote: 1 };
/** Timeout of one step, in milliseconds, for its slot and for the disk. */
const STEP_MS = 10_000;

/**
 * A reader with at most three disk operations at a time, two per disk. Before this process accesses a path, a separate
 * process has checked that the disk answers.
 */
export function createFileReader(clock: Clock, disks: ReadDisks): FileReader {
  const slots = new ReadSlots(clock, disks);
  const step = async <T>(
    path: string,
    run: () => Promise<T>,
    discard: (late: T) => void = () => undefined,
  ): Promise<T> => {
    try {
      return await slots.take(path, run, discard);
    } catch (error) {
      throw fileError(path, error);
    }
  };

  const requireAnswer = async (path: string): Promise<void> => {
    const proof = await disks.prove(path);
    if (proof === 'silent') throw silentDisk(path);
    if (proof === 'unchecked')
      throw new CodedError(
        'queue_full',
        `${path} could not be checked yet, because too many other files are being checked; try again in a moment`,
      );
  };

  const statPath = async (path: string): Promise<FileStat> => {
    await requireAnswer(path);
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

  /** Opens the stamped file; never one that would block or where opening has side effects. */
  const openStamped = async (path: string, stamp: FileStamp): Promise<FileHandle> => {
    await requireAnswer(path);
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
    stat: statPath,
    async stamp(path) {
      const found = await statPath(path);
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
      // Two buffers for the whole file: a new one per chunk would cause garbage collection.
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
          // Reads ahead while the network sends this chunk.
          if (at < end) {
            [free, lent] = [lent ?? Buffer.allocUnsafeSlow(room), free];
            next = chunkAt(at, free);
            next.catch(() => undefined);
          }
          yield chunk;
        }
      } finally {
        // Closing waits for a step in progress, so it is not awaited.
        void Promise.resolve(next)
          .catch(() => undefined)
          .then(() => file.close())
          .catch(() => undefined);
      }
    },
  };
}

function lateDisk(path: string): CodedError {
  return new CodedError(
    'deadline_exceeded',
    `the disk did not answer for ${path} within ${STEP_MS} ms; try again`,
  );
}

function silentDisk(path: string): CodedError {
  return new CodedError(
    'deadline_exceeded',
    `the disk of ${path} does not answer; the daemon keeps checking it, try again when it is back`,
  );
}

/**
 * Limits the disk operations in progress, in total and per disk. A caller that waits too long gets an error; an
 * operation that hangs keeps its slot, which counts for its disk.
 */
class ReadSlots {
  readonly #clock: Clock;
  readonly #disks: ReadDisks;
  readonly #taken = new Map<string, number>();
  #all = 0;
  #waiting = new Set<{ mount: string; most: number; begin(): void }>();

  constructor(clock: Clock, disks: ReadDisks) {
    this.#clock = clock;
    this.#disks = disks;
  }

  /** `discard` receives a result that arrives after the timeout. */
  take<T>(path: string, run: () => Promise<T>, discard: (late: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { name: mount, local } = this.#disks.mountOf(path);
      let late = false;
      let begun = false;
      const step = {
        mount,
        most: local ? MOST_A_DISK.local : MOST_A_DISK.remote,
        begin: () => {
          begun = true;
          this.#enter(mount);
          run()
            .then((value) => {
              this.#disks.answered(path);
              if (late) discard(value);
              else resolve(value);
            }, reject)
            .finally(() => {
              cancel();
              this.#leave(mount);
            });
        },
      };
      const cancel = this.#clock.after(STEP_MS, () => {
        late = true;
        this.#waiting.delete(step);
        // A step that never got a slot says nothing about its disk.
        if (begun) this.#disks.unanswered(path);
        reject(lateDisk(path));
      });
      if (this.#isFree(step)) step.begin();
      else this.#waiting.add(step);
    });
  }

  #isFree({ mount, most }: { mount: string; most: number }): boolean {
    return this.#all < MOST_AT_ONCE && (this.#taken.get(mount) ?? 0) < most;
  }

  #enter(mount: string): void {
    this.#all += 1;
    this.#taken.set(mount, (this.#taken.get(mount) ?? 0) + 1);
  }

  #leave(mount: string): void {
    this.#all -= 1;
    const left = (this.#taken.get(mount) ?? 0) - 1;
    if (left > 0) this.#taken.set(mount, left);
    else this.#taken.delete(mount);
    for (const step of this.#waiting) {
      if (this.#all >= MOST_AT_ONCE) return;
      if (!this.#isFree(step)) continue;
      this.#waiting.delete(step);
      step.begin();
    }
  }
}
