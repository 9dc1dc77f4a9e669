import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { StoreIndex } from '../../src/fibers/store-index.ts';
import { startDaemon } from '../daemon.ts';
import { type Bench, judged, median } from '../frame.ts';
import { withPool } from '../pool.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const FIBERS = 10_000;
const ROUNDS = 5;

export const bench: Bench = {
  name: 'listing-cold',
  question: 'how long until 10,000 fibers that nobody has read are listed?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root, documents } = generateStore(join(folder, 's'), {
        fibers: FIBERS,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const times = {
        listing: [] as number[],
        whole: [] as number[],
        read: [] as number[],
        yaml: [] as number[],
      };
      const loop = { all: [] as number[], own: [] as number[], idle: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        times.read.push(timed(() => readAll(documents)));
        times.yaml.push(timed(() => parseAll(documents)));
        times.listing.push(await coldListing(root));
        const daemon = await startDaemon({ folder: join(folder, `r${round}`), stores: [root] });
        try {
          times.whole.push(await daemon.fresh());
          const { daemon: delay, idle } = await daemon.loopDelay();
          loop.all.push(delay.p99);
          loop.own.push(delay.own_p99 ?? Number.NaN);
          loop.idle.push(idle.p99);
        } finally {
          await daemon.stop();
        }
        log(
          `round ${round + 1}: listing ${ms(times.listing)}, process start to fresh ${ms(times.whole)}, reading ${ms(times.read)}, yaml.parse ${ms(times.yaml)}`,
        );
      }
      const against = [
        { name: 'reading the files', value: median(times.read), unit: 'ms' },
        { name: 'yaml.parse of each', value: median(times.yaml), unit: 'ms' },
      ];
      return [
        judged(
          { name: 'listing, taken into the index', value: median(times.listing), unit: 'ms', against },
          { most: 1_500 },
        ),
        judged(
          { name: 'process start to a fresh feed', value: median(times.whole), unit: 'ms' },
          { most: 2_000 },
        ),
        judged(
          {
            ...{ name: 'main-thread delay p99, from ready to fresh', value: median(loop.all), unit: 'ms' },
            against: [
              { name: 'but for waiting for a processor', value: median(loop.own), unit: 'ms' },
              { name: 'of an idle Node beside it', value: median(loop.idle), unit: 'ms' },
            ],
          },
          { most: 4 },
        ),
      ];
    }),
};

/** A first listing by threads that have never parsed a document. */
function coldListing(root: string): Promise<number> {
  return withPool(async (pool) => {
    const from = performance.now();
    const index = new StoreIndex();
    const since = index.beginSweep();
    const poll = pool.poll(root, systemClock, silentLogger);
    const result = await poll.sweep(60_000);
    if (result === null) throw new Error(poll.health.error ?? 'the store was not listed');
    index.apply(root, result, { since, read: () => null });
    const took = performance.now() - from;
    if (index.size !== FIBERS) throw new Error(`${index.size} fibers were listed`);
    return took;
  });
}

function readAll(documents: string[]): void {
  for (const path of documents) readFileSync(path);
}

function parseAll(documents: string[]): void {
  for (const path of documents) {
    const text = readFileSync(path, 'utf8');
    parse(text.slice(4, text.indexOf('\n---', 4)));
  }
}

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function ms(values: number[]): string {
  return `${Math.round(values.at(-1) ?? 0)} ms`;
}
