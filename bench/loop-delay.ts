// Loaded before the daemon's own code, in its main thread only: measures how late the event loop is. At every
// SIGUSR2 the figures since the last one are written to BENCH_LOOP_FILE (by rename) and start anew.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** What is written: delays beyond the timer's own period, in milliseconds. */
export type LoopDelay = { p50: number; p99: number; p999: number; max: number; samples: number };

const RESOLUTION_MS = 1;
const path = process.env.BENCH_LOOP_FILE;

if (isMainThread && path !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  process.on('SIGUSR2', () => {
    const delay: LoopDelay = {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      p999: late(histogram.percentile(99.9)),
      max: late(histogram.max),
      samples: histogram.count,
    };
    histogram.reset();
    writeFileSync(`${path}.tmp`, JSON.stringify(delay));
    renameSync(`${path}.tmp`, path);
  });
}
