// @ts-check
'use strict';
const fs = require('node:fs');
const { promisify } = require('node:util');

const read = promisify(fs.read);

const CHUNK_BYTES = 64 * 1024;
/** Limit of a hook's input on stdin, in bytes; a tool's output can be long. */
const MOST_INPUT_BYTES = 8 * 1024 * 1024;
const STDIN = 0;
const CLOSE_BRACE = 0x7d;

/**
 * The JSON that a hook receives on stdin, as soon as it is complete, even if the pipe stays open. Throws if it is not
 * JSON or too long; has no timeout of its own. Reads the descriptor, because creating a stream takes longer than
 * everything else in a hook.
 *
 * @returns {Promise<unknown>}
 */
async function readInput() {
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  for (;;) {
    const chunk = await readChunk();
    if (chunk.length === 0) return JSON.parse(Buffer.concat(chunks).toString('utf8'));
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_INPUT_BYTES) throw new Error('too much input');
    if (!endsObject(chunk)) continue;
    try {
      return JSON.parse(Buffer.concat(chunks).toString('utf8'));
    } catch {
      // The brace was inside the JSON; more follows.
    }
  }
}

/** The available data, at most one chunk; empty at the end. */
async function readChunk() {
  for (;;) {
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await read(STDIN, buffer, 0, CHUNK_BYTES, null);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      // The pipe may be in non-blocking mode.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

/** @param {Buffer} chunk */
function endsObject(chunk) {
  let at = chunk.length - 1;
  while (at > 0 && (chunk[at] ?? 0) <= 0x20) at -= 1;
  return chunk[at] === CLOSE_BRACE;
}

module.exports = { readInput };
