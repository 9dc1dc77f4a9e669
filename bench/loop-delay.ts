// Loaded before the daemon's own code, in its main thread only: measures how late the event loop is. At every
// SIGUSR2 the figures since the last one are written to BENCH_LOOP_FILE (by rename) and start again.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * What is written: delays beyond the timer's own period, in milliseconds. `own_p99` is without the time for which the
 * thread was ready to run and others had the processor, by the scheduler's account; null where none is kept. What a
 * host takes from a virtual machine stays in.
 */
export type LoopDelay = {
  p50: number;
  p99: number;
  p999: number;
  max: number;
  own_p99: number | null;
  samples: number;
};

const RESOLUTION_MS = 1;
const path = process.env.BENCH_LOOP_FILE;

if (isMainThread && path !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const own = measureOwn();
  process.on('SIGUSR2', () => {
    const delay: LoopDelay = {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      p999: late(histogram.percentile(99.9)),
      max: late(histogram.max),
      own_p99: own === null ? null : own.percentile(99) / 1e6,
      samples: histogram.count,
    };
    histogram.reset();
    own?.reset();
    writeFileSync(`${path}.tmp`, JSON.stringify(delay));
    renameSync(`${path}.tmp`, path);
  });
}

/** Nanoseconds by which turns came late for another reason than that no processor was free. */
function measureOwn(): ReturnType<typeof createHistogram> | null {
  let account: number;
  try {
    account = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return null;
  }
  const text = Buffer.alloc(96);
  /** The second of the numbers there: nanoseconds of waiting, up to the last time the thread was given a processor. */
  const waitedSoFar = () =>
    Number(text.toString('latin1', 0, readSync(account, text, 0, 96, 0)).split(' ')[1]);
  const histogram = createHistogram();
  let [last_at, last_waited] = [performance.now(), waitedSoFar()];
  setInterval(() => {
    const [at, waited] = [performance.now(), waitedSoFar()];
    const late = (at - last_at - RESOLUTION_MS) * 1e6;
    histogram.record(Math.max(1, Math.round(late - (waited - last_waited))));
    [last_at, last_waited] = [at, waited];
  }, RESOLUTION_MS).unref();
  return histogram;
}
