// @ts-check
'use strict';
const { closeSync, openSync, readSync } = require('node:fs');

/** A random UUID (version 4), from the system: loading `crypto` takes longer than everything else in a hook. */
function randomId() {
  const bytes = Buffer.alloc(16);
  const fd = openSync('/dev/urandom', 'r');
  try {
    readSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}

module.exports = { randomId };
