import { closeSync, openSync, readSync } from 'node:fs';

/** Lines of a file and of its rotated sibling: the least that whoever reads them has to do. */
export function countLines(path: string): number {
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  let lines = 0;
  for (const file of [`${path}.1`, path]) {
    const fd = openSync(file, 'r');
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      for (let at = buffer.indexOf(10); at !== -1 && at < count; at = buffer.indexOf(10, at + 1)) lines += 1;
    closeSync(fd);
  }
  return lines;
}
