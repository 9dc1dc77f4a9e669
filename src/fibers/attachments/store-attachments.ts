import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256Of } from '../../base/digest.ts';
import { CodedError, messageOf, systemCode } from '../../base/errors.ts';
import type { StoredFile } from '../../contract/http/attachments.ts';
import type { BulkFile } from '../../contract/threads/bulk-file.ts';
import type { AttachedTo } from '../../contract/threads/pool.ts';
import { syncFolder, temporaryPath } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { readRegularFileSync } from '../../platform/regular-file.ts';
import { storageFault } from '../../platform/storage-error.ts';
import { isUlid } from '../fiber-id.ts';

/** The folder of a fiber’s images (ATT-1), or of a message’s files, below that of all attachments. */
function folderOf(of: AttachedTo): string {
  // Message ids may differ by case alone, which some file systems do not tell apart.
  if ('message_id' in of) return `message-${sha256Of(of.message_id).slice(0, 32)}`;
  if (isUlid(of.uid)) return of.uid;
  throw new CodedError('uid_missing', 'the fiber has no ULID to keep its images under');
}

/** The path of each file of a batch. */
export function attachmentPlaces(folder: string, of: AttachedTo, files: readonly BulkFile[]): StoredFile[] {
  const own = join(folder, folderOf(of));
  return files.map(({ name, kept_as, sha256, size }) => ({ name, path: join(own, kept_as), sha256, size }));
}

/**
 * Stores a batch of checked files below `folder`, all or none. A file that is there already is not rewritten, only its
 * time is updated. Durable when it returns. Throws `store_unavailable` on a write error; then no new file is left.
 */
export function storeAttachments(
  batch: { folder: string; of: AttachedTo; files: readonly BulkFile[]; bytes: Uint8Array },
  now: number = Date.now(),
): StoredFile[] {
  const { folder, of, files, bytes } = batch;
  const stored = attachmentPlaces(folder, of, files);
  const own = join(folder, folderOf(of));
  for (let tries = 1; ; tries += 1) {
    try {
      writeAll(folder, own, stored, (index) => {
        const { offset, size } = files[index]!;
        return bytes.subarray(offset, offset + size);
      });
      for (const { path } of stored) utimesSync(path, now / 1000, now / 1000);
      return stored;
    } catch (error) {
      // The sweep of another request may remove a new folder before its first file is written.
      if (systemCode(error) === 'ENOENT' && tries < 3) continue;
      if (error instanceof CodedError) throw error;
      const fault = storageFault(folder, error);
      throw new CodedError(
        'store_unavailable',
        fault === null
          ? `the files cannot be written below ${folder}: ${messageOf(error)}`
          : `${fault.said}; nothing was kept; ${fault.mend} and try again`,
        { cause: error },
      );
    }
  }
}

function writeAll(
  folder: string,
  own: string,
  files: readonly StoredFile[],
  bytesOf: (index: number) => Uint8Array,
): void {
  makeOwnFolder(folder);
  makeOwnFolder(own);
  const written: { temporary: string; path: string; placed: boolean; fresh: boolean }[] = [];
  const done = new Set<string>();
  try {
    for (const [index, file] of files.entries()) {
      if (done.has(file.path)) continue;
      done.add(file.path);
      if (isStored(file)) {
        chmodSync(file.path, 0o600);
        continue;
      }
      // The name of the file itself may be as long as a name can be.
      const temporary = temporaryPath(join(own, 'attachment'));
      written.push({ temporary, path: file.path, placed: false, fresh: !isThere(file.path) });
      writeNew(temporary, bytesOf(index));
    }
    for (const entry of written) {
      renameSync(entry.temporary, entry.path);
      entry.placed = true;
    }
    // The entries of new folders are to survive a crash too.
    if (written.length > 0) for (const changed of [own, folder, dirname(folder)]) syncFolder(changed);
  } catch (error) {
    for (const { temporary, path, placed, fresh } of written) {
      if (!placed) rmSync(temporary, { force: true });
      else if (fresh) rmSync(path, { force: true });
    }
    removeIfEmpty(own);
    throw error;
  }
}

/** Makes a folder that only its owner may enter; a symlink at the path is refused, since it may lead anywhere. */
function makeOwnFolder(path: string): void {
  makeFolder(path);
  const entry = lstatSync(path);
  if (!entry.isDirectory())
    throw new CodedError('store_unavailable', `${path} is not a real folder; move it away`);
  if ((entry.mode & 0o077) !== 0) chmodSync(path, 0o700);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

function writeNew(path: string, bytes: Uint8Array): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * True if the file has this content. The name contains a part of the digest at most, and a disk can lose bytes.
 */
function isStored({ path, size, sha256 }: StoredFile): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || !entry.isFile() || entry.size !== size) return false;
  const bytes = readRegularFileSync(path, size);
  return sha256Of(bytes) === sha256;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
