import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';

/** A file whose opening blocks in the kernel until `release`, which lets everybody go who waits there. */
export function blockingFile(dir: string): { path: string; release(): void } {
  const path = join(dir, 'fifo');
  execFileSync('mkfifo', [path]);
  return {
    path,
    release() {
      try {
        closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
      } catch (error) {
        // ENXIO: nobody waits.
        if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      }
    },
  };
}
