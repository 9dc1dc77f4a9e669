import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { CodedError, messageOf, systemCode } from '../../base/errors.ts';
import type { StoredFile } from '../../contract/http/attachments.ts';
import type { CheckedImages } from '../../contract/threads/pool.ts';
import { syncFolder } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { readRegularFileSync } from '../../platform/regular-file.ts';
import { isUlid } from '../fiber-id.ts';

type Image = CheckedImages['images'][number];

/** The path of each image of a batch: named by its content, so that equal images share a path (ATT-1). */
export function attachmentPlaces(folder: string, uid: string, images: readonly Image[]): StoredFile[] {
  if (!isUlid(uid)) throw new CodedError('uid_missing', 'the fiber has no ULID to keep its images under');
  return images.map(({ name, ending, sha256, size }) => ({
    name,
    path: join(folder, uid, `${sha256.slice(0, 16)}.${ending}`),
    sha256,
    size,
  }));
}

/**
 * Stores a batch of checked images below `folder`, all or none. An existing image is not rewritten, only its time is
 * updated. Throws `store_unavailable` on a write error; then no new file is left.
 */
export function storeAttachments(
  batch: { folder: string; uid: string; images: readonly Image[]; bytes: Uint8Array },
  now: number = Date.now(),
): StoredFile[] {
  const { folder, uid, images, bytes } = batch;
  const files = attachmentPlaces(folder, uid, images);
  for (let tries = 1; ; tries += 1) {
    try {
      writeAll(folder, uid, files, (index) => {
        const { offset, size } = images[index]!;
        return bytes.subarray(offset, offset + size);
      });
      for (const { path } of files) utimesSync(path, now / 1000, now / 1000);
      return files;
    } catch (error) {
      // The sweep of another request may remove a new folder before its first file is written.
      if (systemCode(error) === 'ENOENT' && tries < 3) continue;
      if (error instanceof CodedError) throw error;
      throw new CodedError(
        'store_unavailable',
        `the images cannot be written below ${folder}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
}

function writeAll(
  folder: string,
  uid: string,
  files: readonly StoredFile[],
  bytesOf: (index: number) => Uint8Array,
): void {
  const own = join(folder, uid);
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
      const temporary = join(own, `.${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
      written.push({ temporary, path: file.path, placed: false, fresh: !isThere(file.path) });
      writeNew(temporary, bytesOf(index));
    }
    for (const entry of written) {
      renameSync(entry.temporary, entry.path);
      entry.placed = true;
    }
    if (written.length > 0) syncFolder(own);
  } catch (error) {
    for (const { temporary, path, placed, fresh } of written) {
      if (!placed) rmSync(temporary, { force: true });
      else if (fresh) rmSync(path, { force: true });
    }
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
 * True if the file has the content of the image. The name contains only a part of the digest, and a disk can lose
 * bytes.
 */
function isStored({ path, size, sha256 }: StoredFile): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || !entry.isFile() || entry.size !== size) return false;
  const { bytes } = readRegularFileSync(path, size);
  return createHash('sha256').update(bytes).digest('hex') === sha256;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
