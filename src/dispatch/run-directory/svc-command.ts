import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import { shellLine } from '../../base/shell-word.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';

/**
 * Puts an `svc` into `folder` that runs this very package on this very runtime, for the workers' PATH. An older one that
 * cannot be replaced stays, with a warning; throws the system error where there is none.
 */
export function writeSvcCommand(folder: string, logger: Logger): void {
  const launcher = join(packageRoot(), 'src', 'cli', 'svc.cjs');
  const text = `#!/bin/sh\nexec ${shellLine([process.execPath, launcher])} "$@"\n`;
  const path = join(folder, 'svc');
  if (textOf(path) === text) return;
  try {
    makeFolder(folder);
    writeFileAtomic(path, text, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(path)) throw error;
    logger.warn(
      { err: error, path },
      'the svc of the workers cannot be brought up to date and may run an earlier version; free space on the disk or make the folder writable, then restart the daemon',
    );
  }
}

function textOf(path: string): string | null {
  try {
    return readRegularTextSync(path, READ_LIMITS.short_file);
  } catch {
    return null;
  }
}
