import type { Worker } from 'node:worker_threads';

/** The live worker threads of this process that were created since tracking began. */
export type ThreadsLeft = {
  readonly count: number;
  /** Resolves when none is left or after `limit_ms`, to the number that is left. */
  wait(limit_ms: number): Promise<number>;
  stop(): void;
};

const LOOK_EVERY_MS = 20;

/** Tracks every worker thread that any code of this process creates. */
export function followThreads(): ThreadsLeft {
  const alive = new Set<Worker>();
  const follow = (worker: Worker): void => {
    alive.add(worker);
    worker.once('exit', () => alive.delete(worker));
  };
  process.on('worker', follow);
  return {
    get count() {
      return alive.size;
    },
    async wait(limit_ms) {
      for (let waited = 0; alive.size > 0 && waited < limit_ms; waited += LOOK_EVERY_MS)
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      return alive.size;
    },
    stop: () => void process.off('worker', follow),
  };
}
