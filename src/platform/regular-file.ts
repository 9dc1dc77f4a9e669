import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import { CodedError, systemCode } from '../base/errors.ts';
import { fileChanged, notAFile } from './file-error.ts';
import { requireAnswer } from './foreign-paths.ts';

/** A regular file open for reading; `stats` are those of the open file. The caller closes it. */
export type OpenFile = { fd: number; stats: Stats };
/** The asynchronous variant, for a thread that must not block on a disk. */
export type OpenFileHandle = { file: FileHandle; stats: Stats };

/** What a caller has just seen at a path: its stats, or that its folder lists it as a file. */
export type SeenFile = Stats | 'a file';

/**
 * Without O_NONBLOCK, opening a pipe waits for a writer; without O_NOCTTY, opening a terminal could make it our
 * controlling terminal.
 */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const DELETED = ' (deleted)';

/**
 * File systems whose regular files are interfaces of the kernel, by the type from statfs(2). Reading one may block
 * (`/proc/kmsg`), never end (`/proc/self/pagemap`), reveal secrets of a process, or consume the data.
 */
const KERNEL_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x73636673, 'securityfs'],
  [0xf97cff8c, 'selinuxfs'],
  [0x43415d53, 'smackfs'],
  [0x5a3c69f0, 'apparmorfs'],
  [0xde5e81e4, 'efivarfs'],
  [0x62656570, 'configfs'],
  [0x6165676c, 'pstore'],
  [0xcafe4a11, 'bpf'],
  [0x65735543, 'fusectl'],
  [0x42494e4d, 'binfmt_misc'],
  [0x19800202, 'mqueue'],
  [0x6e736673, 'nsfs'],
  [0x67596969, 'rpc_pipefs'],
  [0x6e667364, 'nfsd'],
  [0xabba1974, 'xenfs'],
  [0x7655821, 'resctrl'],
]);

/**
 * Opens a regular file for reading, without ever waiting for another process. Anything else is refused before opening,
 * since opening a device may have side effects, and again on the open file. `seen` saves the first look where the caller
 * has just looked; with `follow: false` a link at the path is refused, as one that was made since. Throws `not_a_file` and
 * the system error.
 */
export function openRegularFileSync(
  path: string,
  { seen, follow = true }: { seen?: SeenFile; follow?: boolean } = {},
): OpenFile {
  if (seen !== 'a file') requireRegular(path, seen ?? (follow ? statSync : lstatSync)(path));
  const fd = openSync(path, follow ? READ_FLAGS : READ_FLAGS | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(fd);
    requireRegular(path, stats);
    if (mayBeKernels(stats))
      requireStored(
        path,
        typeOf(() => statfsSync(descriptorPath(fd)).type),
      );
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * `openRegularFileSync` without blocking the thread, and on no disk that does not answer. Throws as `requireAnswer` does
 * too.
 */
export async function openRegularFile(path: string): Promise<OpenFileHandle> {
  await requireAnswer(path);
  requireRegular(path, await stat(path));
  const file = await open(path, READ_FLAGS);
  try {
    const stats = await file.stat();
    requireRegular(path, stats);
    if (mayBeKernels(stats)) {
      const { type } = await statfs(descriptorPath(file.fd)).catch(() => ({ type: 0 }));
      requireStored(path, type);
    }
    return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads a whole regular file of at most `most_bytes`; whatever size the system reports, at most one byte more is read.
 * Throws `not_a_file`, `file_too_large` and the system error.
 */
export function readRegularFileSync(
  path: string,
  most_bytes: number,
  options: { follow?: boolean } = {},
): Buffer {
  const { fd, stats } = openRegularFileSync(path, options);
  try {
    return readWholeSync(path, { fd, stats }, most_bytes);
  } finally {
    closeSync(fd);
  }
}

/** The text of a regular file, as `readRegularFileSync` reads it. */
export function readRegularTextSync(
  path: string,
  most_bytes: number,
  options: { follow?: boolean } = {},
): string {
  return readRegularFileSync(path, most_bytes, options).toString('utf8');
}

/** The last bytes of a regular file, at most so many; `cut` if it has more. Throws `not_a_file` and the system error. */
export async function readRegularEnd(
  path: string,
  most_bytes: number,
): Promise<{ bytes: Buffer; cut: boolean }> {
  const { file, stats } = await openRegularFile(path);
  try {
    const { size } = stats;
    const from = Math.max(0, size - most_bytes);
    const bytes = Buffer.alloc(size - from);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { bytes: bytes.subarray(0, filled), cut: from > 0 };
  } finally {
    await file.close();
  }
}

/** `readRegularFileSync` without blocking the thread. */
export async function readRegularFile(path: string, most_bytes: number): Promise<Buffer> {
  const { file, stats } = await openRegularFile(path);
  try {
    requireSize(path, stats, most_bytes);
    let bytes = roomFor(stats, most_bytes);
    for (let filled = 0; ; ) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      filled += bytesRead;
      if (bytesRead === 0 || isWhole(filled, stats)) return bytes.subarray(0, filled);
      bytes = withRoom(path, bytes, filled, most_bytes);
    }
  } finally {
    await file.close();
  }
}

/** The text of a regular file, as `readRegularFile` reads it. */
export async function readRegularText(path: string, most_bytes: number): Promise<string> {
  return (await readRegularFile(path, most_bytes)).toString('utf8');
}

/** The content of an open file; throws `file_too_large` and the system error. */
export function readWholeSync(path: string, { fd, stats }: OpenFile, most_bytes: number): Buffer {
  requireSize(path, stats, most_bytes);
  let bytes = roomFor(stats, most_bytes);
  for (let filled = 0; ; ) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, filled);
    filled += count;
    if (count === 0 || isWhole(filled, stats)) return bytes.subarray(0, filled);
    bytes = withRoom(path, bytes, filled, most_bytes);
  }
}

/** Fills `bytes` from an offset of an open file; returns the part that was read. */
export function readAtSync(fd: number, bytes: Buffer, position: number): Buffer {
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/**
 * The real path of an open file, with all links resolved. On Linux the kernel reports it for the open file itself.
 * Elsewhere the path is resolved and must still name that file, or `file_changed` is thrown.
 */
export function realPathOfSync(path: string, { fd, stats }: OpenFile): string {
  const told = descriptorLink(fd);
  // The kernel appends this mark to the path of a file that was replaced since it was opened.
  if (told?.endsWith(DELETED) && fstatSync(fd).nlink === 0) return told.slice(0, -DELETED.length);
  if (told !== null) return told;
  const real = realpathSync(path);
  const there = statSync(real);
  if (there.dev !== stats.dev || there.ino !== stats.ino) throw fileChanged(path);
  return real;
}

function descriptorLink(fd: number): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return readlinkSync(descriptorPath(fd));
  } catch {
    // `/proc` is not mounted.
    return null;
  }
}

function descriptorPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw notAFile(path, kindOf(stats));
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  if (stats.isSymbolicLink()) return 'a link';
  return 'a device';
}

/** Kernel files occupy no disk blocks. Neither does an empty file, so its file system type decides. */
function mayBeKernels(stats: Stats): boolean {
  return process.platform === 'linux' && stats.blocks === 0;
}

function typeOf(ask: () => number): number {
  try {
    return ask();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return 0;
  }
}

function requireStored(path: string, type: number): void {
  // The type is a signed number on some systems.
  const name = KERNEL_FILE_SYSTEMS.get(type >>> 0);
  if (name !== undefined) throw notAFile(path, `a file of the kernel (${name})`);
}

function requireSize(path: string, stats: Stats, most_bytes: number): void {
  if (stats.size > most_bytes) throw tooLarge(path, most_bytes);
}

function roomFor(stats: Stats, most_bytes: number): Buffer {
  return Buffer.allocUnsafe(Math.min(stats.size, most_bytes) + 1);
}

/** All that the file had when it was opened: one byte more was asked for, and there was none. */
function isWhole(filled: number, { size }: Stats): boolean {
  return filled === size;
}

/** The same buffer while it has room, else a larger one; throws beyond the limit. */
function withRoom(path: string, bytes: Buffer, filled: number, most_bytes: number): Buffer {
  if (filled < bytes.length) return bytes;
  if (filled > most_bytes) throw tooLarge(path, most_bytes);
  const larger = Buffer.allocUnsafe(Math.min(Math.max(64 * 1024, 2 * filled), most_bytes + 1));
  bytes.copy(larger);
  return larger;
}

function tooLarge(path: string, most_bytes: number): CodedError {
  return new CodedError(
    'file_too_large',
    `${path} has more than ${most_bytes} bytes, the limit for such a file; make it shorter`,
    { details: { path, most_bytes } },
  );
}
