// @ts-check
// Reads like `platform/regular-file.ts`, without loading its modules.
'use strict';
const fs = require('node:fs');
const { promisify } = require('node:util');

const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const read = promisify(fs.read);
const close = promisify(fs.close);

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

module.exports = { endOfFile };
