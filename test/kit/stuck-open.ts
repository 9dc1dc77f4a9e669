import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PRELOAD = fileURLToPath(new URL('stuck-open.cjs', import.meta.url));

/** Files whose opening can be made to wait in the kernel, as on a disk that does not answer. */
export type StuckOpen = {
  /** For the process that is to wait. */
  env: { NODE_OPTIONS: string; TEST_STUCK_OPEN: string };
  /** From now on, who opens one of the files waits. */
  hold(): void;
  /** Lets everybody go on who waits, and who comes. */
  release(): void;
};

/**
 * `fifo` is a path for this alone, in a folder that exists. A path that ends with a slash stands for all that is below it.
 */
export function stuckOpen(fifo: string, paths: readonly string[]): StuckOpen {
  let held = false;
  return {
    env: {
      NODE_OPTIONS: `--require=${PRELOAD}`,
      TEST_STUCK_OPEN: JSON.stringify({ fifo, paths }),
    },
    hold() {
      spawnSync('mkfifo', [fifo]);
      held = true;
    },
    release() {
      if (!held) return;
      held = false;
      // A writer lets every reader's opening come to an end.
      const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
      rmSync(fifo);
      closeSync(writer);
    },
  };
}
