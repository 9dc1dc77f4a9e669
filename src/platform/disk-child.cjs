// @ts-check
// The process that looks at disks, one path at a time. A disk that does not answer holds this process and nothing else.
'use strict';
const { writeSync } = require('node:fs');
const { askDisk, readMounts, walk } = require('./disk-walk.cjs');

/** @param {unknown} answer */
function tell(answer) {
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

/** @param {{ id: number, path: string, mount: string }} look */
function serve({ id, path, mount }) {
  // What comes before this is the machine's own slowness, and says nothing of a disk.
  tell({ id, kind: 'begun' });
  try {
    askDisk(mount);
  } catch {
    // It refuses, so it answers: what it says of the path is told below.
  }
  tell({ id, kind: 'proven' });
  tell({ id, ...walk(path, readMounts()) });
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) serve(JSON.parse(line));
});
