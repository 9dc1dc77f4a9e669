import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { withPath } from './file-error.ts';

export type AtomicWriteOptions = {
  /** Mode of a file that does not exist yet; an existing file keeps its own. Default 0600. */
  mode?: number;
  /** False: the change outlives a crash of any process, but perhaps not one of the machine. Default true. */
  durable?: boolean;
  /** False: a symlink at the path is itself replaced. Default true: its target is replaced. */
  follow?: boolean;
  /** Called when the new bytes are on disk, before the rename; if it throws, the old file stays. */
  beforeRename?: () => void;
};

/**
 * Writes a file so that a reader, or a crash at any moment, sees the old or the new content, never a mix: temporary
 * file in the same folder, fsync, rename, fsync of the folder. A symlink is followed by default: its target is
 * replaced, not the link. Throws the system error of the step that failed, which names the file; or
 * `storage_unavailable` where the new content is in place and only its durability is in doubt.
 */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): void {
  const target = options.follow === false ? path : resolveLink(path);
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const folder = dirname(target);
  const temporary = temporaryPath(target);
  const mode = existingMode(target) ?? options.mode ?? 0o600;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    try {
      let written = 0;
      while (written < bytes.length) written += writeSync(file, bytes, written);
      if (mode !== 0o600) fchmodSync(file, mode);
      if (options.durable !== false) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    options.beforeRename?.();
    renameSync(temporary, target);
  } catch (error) {
    removeQuietly(temporary);
    throw withPath(error, target);
  }
  if (options.durable !== false) confirmDone(target, 'written', folder);
}

/** A fresh name beside `target`, by which it is known who writes to it, and that it is only temporary. */
export function temporaryPath(target: string): string {
  return join(dirname(target), `${temporaryPrefix(target)}${process.pid}-${randomBytes(6).toString('hex')}`);
}

/** True for the name of a temporary file of an atomic write. */
export function isTemporaryName(name: string): boolean {
  return temporaryWriter(name) !== null;
}

/** The process id of the writer of a temporary file with this name; null for any other name. */
export function temporaryWriter(name: string): number | null {
  const pid = /^\..*\.tmp-(\d+)-[0-9a-f]{12}$/s.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
}

/**
 * Removes temporary files that crashed writers left beside `path`, except those whose writer `mayBeInUse`. The holder of
 * the file's lock is the only writer and leaves that out.
 */
export function removeLeftTemporaries(
  path: string,
  mayBeInUse: (pid: number) => boolean = () => false,
): void {
  const target = resolveLink(path);
  const folder = dirname(target);
  const prefix = temporaryPrefix(target);
  for (const name of readdirSync(folder)) {
    const writer = name.startsWith(prefix) ? temporaryWriter(name) : null;
    if (writer !== null && !mayBeInUse(writer)) rmSync(join(folder, name), { force: true });
  }
}

/** Fsyncs a folder, so that removed and renamed entries survive a crash, where the file system supports it. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EINVAL' && code !== 'ENOTSUP' && code !== 'EPERM') throw error;
  } finally {
    closeSync(handle);
  }
}

/**
 * Fsyncs a folder after a file in it was `written` or `removed`. On an error it throws `storage_unavailable`, which
 * says that the change is done but may not survive a crash.
 */
export function confirmDone(target: string, done: 'written' | 'removed', folder: string): void {
  try {
    syncFolder(folder);
  } catch (error) {
    throw new CodedError(
      'storage_unavailable',
      `${target} was ${done}, but its disk did not confirm it (${messageOf(error)}), so a crash of this machine may undo the change; check the disk`,
      { details: { path: target }, cause: error },
    );
  }
}

/**
 * Removes a file and ignores errors: the error that led here is the one to report, and the next writer retries the
 * removal.
 */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

function temporaryPrefix(target: string): string {
  return `.${basename(target)}.tmp-`;
}

/** The file that a path names over symlinks, also where it is missing: the last link is kept for who made it. */
export function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  return resolveLink(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

function existingMode(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : stat.mode & 0o7777;
}
