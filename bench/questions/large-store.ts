import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, median, shown } from '../frame.ts';
import { cpuSeconds, memoryOf } from '../process-cost.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const FIBERS = 100_000;
const STARTS = 3;
/** Two ticks at the default interval, so that the watches have begun and heaps have settled. */
const SETTLE_MS = 75_000;
/** Ten ticks at the default interval: every store is listed at least once meanwhile. */
const WATCHED_MS = 300_000;

export const bench: Bench = {
  name: 'large-store',
  question: `what do ${FIBERS} fibers cost: the time to a fresh feed, memory, and processor time at rest?`,
  run: (log) =>
    withScratch(async (folder) => {
      const shape = { host: 'elsewhere', project_dir: '/srv' };
      const large = generateStore(join(folder, 's'), { ...shape, fibers: FIBERS });
      const small = generateStore(join(folder, 'f'), { ...shape, fibers: 10 });
      const fresh: number[] = [];
      const floors: number[] = [];
      const reads: number[] = [];
      for (let round = 0; round < STARTS; round += 1) {
        const daemon = await startIn(join(folder, `d${round}`), large.root);
        fresh.push(await daemon.fresh());
        await daemon.stop();
        const floor = await startIn(join(folder, `f${round}`), small.root);
        floors.push(await floor.fresh());
        await floor.stop();
        reads.push(readTree(join(large.root, '.fibers')));
      }
      log(`fresh after ${fresh.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`);
      const cost = await atRest(join(folder, 'r'), large.root);
      const floor = await atRest(join(folder, 'rf'), small.root);
      return [
        judged(
          {
            ...{ name: 'process start to a fresh feed', value: median(fresh), unit: 'ms' },
            against: [
              { name: 'with 10 fibers', value: median(floors), unit: 'ms' },
              { name: 'reading the files in one thread', value: median(reads), unit: 'ms' },
            ],
          },
          { most: 4_000 },
        ),
        judged(
          {
            ...{ name: 'memory (RSS)', value: cost.rss, unit: 'MB' },
            against: [
              { name: 'PSS', value: cost.pss, unit: 'MB' },
              { name: 'RSS with 10 fibers', value: floor.rss, unit: 'MB' },
            ],
          },
          { most: 500 },
        ),
        judged(
          {
            ...{ name: 'CPU of one core at rest', value: cost.cpu, unit: '%' },
            against: [{ name: 'with 10 fibers', value: floor.cpu, unit: '%' }],
          },
          { most: 2 },
        ),
        shown('a listing of the whole store', cost.listing_ms, 'ms'),
      ];
    }),
};

function startIn(folder: string, root: string) {
  return startDaemon({ folder, stores: [root], measured: false });
}

async function atRest(folder: string, root: string) {
  const daemon = await startIn(folder, root);
  try {
    await daemon.fresh();
    await wait(SETTLE_MS);
    const before = cpuSeconds(daemon.pid);
    const from = performance.now();
    await wait(WATCHED_MS);
    const spent = cpuSeconds(daemon.pid) - before;
    const { body } = await daemon.json('GET', '/api/v1/state');
    const { stores } = (body as { poll_health: { stores: { last_ms: number }[] } }).poll_health;
    return {
      cpu: (spent / ((performance.now() - from) / 1000)) * 100,
      listing_ms: stores[0]?.last_ms ?? Number.NaN,
      ...memoryOf(daemon.pid),
    };
  } finally {
    await daemon.stop();
  }
}

/** Milliseconds to list the folders, and to check and read every file, one after another. */
function readTree(base: string): number {
  const from = performance.now();
  for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    statSync(path);
    readFileSync(path);
  }
  return performance.now() - from;
}
