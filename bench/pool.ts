import type { Clock } from '../src/base/clock.ts';
import { systemClock } from '../src/base/clock.ts';
import { type Logger, silentLogger } from '../src/base/logger.ts';
import { poolJobs } from '../src/contract/threads/pool.ts';
import { StorePoll } from '../src/dispatch/stores/store-poll.ts';
import { createDisks } from '../src/platform/disks.ts';
import { createRunner } from '../src/platform/process.ts';
import { createPoolComponent } from '../src/threads/pool.ts';
import { WORKER_URLS } from '../src/threads/worker-urls.ts';

export type BenchPool = {
  /** The listing of a store as the poller does it, with the jobs run by this pool. */
  poll(root: string, clock: Clock, logger: Logger): StorePoll;
};

/** Gives `work` the daemon's own pool, without a daemon around it. */
export async function withPool<T>(work: (pool: BenchPool) => Promise<T>): Promise<T> {
  const pool = createPoolComponent({
    url: WORKER_URLS.pool,
    jobs: poolJobs,
    memory_mb: 1_024,
    thread_deaths: { intensity: 0, window_ms: 1 },
    clock: systemClock,
    logger: silentLogger,
  });
  const disks = createDisks({ clock: systemClock, runner: createRunner() });
  const life = pool.launch(() => undefined);
  life.begin();
  await life.ready;
  try {
    return await work({
      poll: (root, clock, logger) => new StorePoll({ root, clock, logger, disks, pool }),
    });
  } finally {
    disks.stop();
    await life.stop(1_000);
  }
}
