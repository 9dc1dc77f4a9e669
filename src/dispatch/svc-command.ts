import { join } from 'node:path';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { packageRoot } from '../platform/package-root.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

/** Puts an `svc` into `folder` that runs this very package on this very runtime, for the workers' PATH. */
export function writeSvcCommand(folder: string): string {
  const launcher = join(packageRoot(), 'src', 'cli', 'svc.cjs');
  const text = `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(launcher)} "$@"\n`;
  const path = join(folder, 'svc');
  makeFolder(folder);
  if (textOf(path) !== text) writeFileAtomic(path, text, { mode: 0o700 });
  return path;
}

function textOf(path: string): string | null {
  try {
    return readRegularTextSync(path, READ_LIMITS.short_file);
  } catch {
    return null;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
