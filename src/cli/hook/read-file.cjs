// @ts-check
// Reads like `platform/regular-file.ts`, without loading its modules.
'use strict';
const fs = require('node:fs');
const { promisify } = require('node:util');

const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const read = promisify(fs.read);
const close = promisify(fs.close);

const CHUNK_BYTES = 1024 * 1024;
/** Without O_NONBLOCK, opening a pipe would wait for a writer. */
const READ_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOCTTY;

/**
 * The text at the end of a regular file, at most `most_bytes`; null if it does not exist or cannot be read.
 * Asynchronous, so that a file system that hangs blocks a thread of the pool and not the timer.
 *
 * @param {string} path
 * @param {number} most_bytes
 * @returns {Promise<string | null>}
 */
async function endOfFile(path, most_bytes) {
  const fd = await open(path, READ_FLAGS).catch(() => null);
  if (fd === null) return null;
  try {
    const stats = await fstat(fd);
    if (!stats.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(stats.size, most_bytes));
    const { bytesRead } = await read(fd, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  } finally {
    await close(fd);
  }
}

/**
 * True if a regular file contains `text` in about `most_bytes` after `offset`. Throws the system error, except for a file
 * that does not exist.
 *
 * @param {string} path
 * @param {number} offset
 * @param {string} text
 * @param {number} most_bytes
 * @returns {Promise<boolean>}
 */
async function fileContains(path, offset, text, most_bytes) {
  const fd = await open(path, READ_FLAGS).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (fd === null) return false;
  try {
    if (!(await fstat(fd)).isFile()) throw new Error('not a file');
    const buffer = Buffer.alloc(CHUNK_BYTES);
    const step = CHUNK_BYTES - Buffer.byteLength(text) + 1;
    for (let at = offset; at - offset < most_bytes; at += step) {
      const { bytesRead } = await read(fd, buffer, 0, CHUNK_BYTES, at);
      if (buffer.subarray(0, bytesRead).includes(text)) return true;
      if (bytesRead < CHUNK_BYTES) return false;
    }
    return false;
  } finally {
    await close(fd);
  }
}

module.exports = { endOfFile, fileContains };
