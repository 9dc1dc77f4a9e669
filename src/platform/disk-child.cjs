// @ts-check
// The process that checks disks, one path at a time. A disk that does not answer blocks only this process.
'use strict';
const { writeSync } = require('node:fs');
const { askDisk, mountOf, readMounts, walk } = require('./disk-walk.cjs');

/** @param {unknown} answer */
function tell(answer) {
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

/** @param {{ id: number, path: string, mount: string }} request */
function serve({ id, path, mount }) {
  // Time before this point is the delay of the machine, not of a disk.
  tell({ id, kind: 'begun' });
  try {
    askDisk(mount);
  } catch {
    // An error is an answer too; the error of the path is reported below.
  }
  tell({ id, kind: 'proven' });
  const mounts = readMounts();
  const own = mountOf(path, mounts).point;
  tell({ id, ...walk(path, mounts, (point) => point === own) });
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) serve(JSON.parse(line));
});
