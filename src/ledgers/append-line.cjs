// @ts-check
// Plain JavaScript, because hooks load it. It uses callbacks, because loading `fs/promises` takes longer than the write.
'use strict';
const fs = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { promisify } = require('node:util');

const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const read = promisify(fs.read);
const write = promisify(fs.write);
const close = promisify(fs.close);
const mkdir = promisify(fs.mkdir);
const stat = promisify(fs.stat);
const rename = promisify(fs.rename);

/** Size in bytes at which `events.jsonl` and `messages.jsonl` are renamed, with `.1` after their name. */
const ROTATE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
/** Without O_NONBLOCK, a pipe in the place of the file could block the writer. */
const APPEND =
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_RDWR |
  fs.constants.O_NONBLOCK |
  fs.constants.O_NOCTTY;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Appends one line to a file in exactly one write, so that lines of concurrent writers stay complete. Creates a missing
 * file (0600) and folder (0700). An incomplete last line of a crashed writer is ended first, in the same write; a line
 * that another writer is still appending may look incomplete, which costs a blank line. Never blocks the thread: a
 * hanging disk blocks a pool thread, and the caller's timeout still fires. With `rotate_bytes`, a file that has reached
 * that size replaces `<path>.1`; the line is written first, so a crash during rotation loses no line. Throws the system
 * error, or an error if the disk took only a part.
 *
 * @param {string} path
 * @param {object} line
 * @param {number} [rotate_bytes]
 * @returns {Promise<void>}
 */
async function appendLine(path, line, rotate_bytes) {
  const fd = await openForAppend(path);
  let size;
  try {
    const before = sizeToAppendTo(path, await fstat(fd));
    const last = Buffer.alloc(1);
    const { bytesRead } = before === 0 ? { bytesRead: 0 } : await read(fd, last, 0, 1, before - 1);
    const bytes = bytesOf(line, bytesRead === 1 && last[0] !== NEWLINE);
    requireAll(path, (await write(fd, bytes)).bytesWritten, bytes.length);
    size = before + bytes.length;
  } finally {
    await close(fd);
  }
  if (rotate_bytes !== undefined && size >= rotate_bytes) await rotateAt(path, rotate_bytes);
}

/**
 * The synchronous variant. It takes no lock to rotate, so give it `rotate_bytes` only where nobody else writes the file.
 *
 * @param {string} path
 * @param {object} line
 * @param {number} [rotate_bytes]
 */
function appendLineSync(path, line, rotate_bytes) {
  const fd = openForAppendSync(path);
  let size;
  try {
    const before = sizeToAppendTo(path, fs.fstatSync(fd));
    const last = Buffer.alloc(1);
    const bytesRead = before === 0 ? 0 : fs.readSync(fd, last, 0, 1, before - 1);
    const bytes = bytesOf(line, bytesRead === 1 && last[0] !== NEWLINE);
    requireAll(path, fs.writeSync(fd, bytes), bytes.length);
    size = before + bytes.length;
  } finally {
    fs.closeSync(fd);
  }
  if (rotate_bytes !== undefined && size >= rotate_bytes) fs.renameSync(path, `${path}.1`);
}

/**
 * The size of a regular file; throws for anything else, into which a line would be lost.
 *
 * @param {string} path
 * @param {fs.Stats} stats
 */
function sizeToAppendTo(path, stats) {
  if (stats.isFile()) return stats.size;
  throw new Error(`${path} is not a regular file, so no line is written to it; move it away`);
}

/**
 * @param {object} line
 * @param {boolean} afterTorn
 */
function bytesOf(line, afterTorn) {
  const text = `${JSON.stringify(line)}\n`;
  return Buffer.from(afterTorn ? `\n${text}` : text);
}

/**
 * @param {string} path
 * @param {number} written
 * @param {number} all
 */
function requireAll(path, written, all) {
  if (written !== all)
    throw new Error(
      `only ${written} of ${all} bytes of a line reached ${path}; free some space on that disk`,
    );
}

/**
 * @param {string} path
 * @param {number} limit
 */
async function rotateAt(path, limit) {
  // Imported on demand: few lines need a rotation, and an agent waits for each hook.
  const { tryFileLock } = await import('../platform/file-lock.ts');
  const lock = tryFileLock(join(dirname(path), `.${basename(path)}.lock`));
  if (lock === null) return;
  try {
    // Another writer may have rotated between the write and the lock.
    if ((await sizeOf(path)) >= limit) await rename(path, `${path}.1`);
  } finally {
    lock.release();
  }
}

/** @param {string} path */
async function sizeOf(path) {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** @param {string} path */
async function openForAppend(path) {
  try {
    return await open(path, APPEND, FILE_MODE);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return await open(path, APPEND, FILE_MODE);
  }
}

/** @param {string} path */
function openForAppendSync(path) {
  try {
    return fs.openSync(path, APPEND, FILE_MODE);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolderSync(dirname(path));
    return fs.openSync(path, APPEND, FILE_MODE);
  }
}

/**
 * Creates folders level by level: Node's recursive call never ends where a folder cannot be made, such as below `/proc`.
 *
 * @param {string} path
 * @returns {Promise<void>}
 */
async function makeFolder(path) {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || (await exists(parent))) throw error;
    await makeFolder(parent);
    await mkdir(path, { mode: FOLDER_MODE });
  }
}

/** @param {string} path */
function makeFolderSync(path) {
  try {
    fs.mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || fs.existsSync(parent)) throw error;
    makeFolderSync(parent);
    fs.mkdirSync(path, { mode: FOLDER_MODE });
  }
}

/** @param {string} path */
async function exists(path) {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {unknown} error
 * @returns {unknown}
 */
function codeOf(error) {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

module.exports = { ROTATE_BYTES, appendLine, appendLineSync };
