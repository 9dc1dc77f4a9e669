import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { silentLogger } from '../../src/base/logger.ts';
import { EventsIndex } from '../../src/ledgers/events-index.ts';
import { countLines } from '../count-lines.ts';
import { generateEvents } from '../events.ts';
import { type Bench, judged, median, percentile, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';

const ROUNDS = 5;
const ENCODINGS = 60;
const NONE = new Uint8Array(0);

export const bench: Bench = {
  name: 'events-index',
  question: 'how long to index 2 × 64 MiB of events, to find the index again, and to encode 14 days?',
  run: (log) =>
    withScratch(async (folder) => {
      const path = join(folder, 'events.jsonl');
      const end = generateEvents(path);
      const bytes = statSync(path).size + statSync(`${path}.1`).size;
      const checkpoint = join(folder, 'events.index');
      const times = {
        plain: [] as number[],
        build: [] as number[],
        lines: [] as number[],
        restart: [] as number[],
        first: [] as number[],
      };
      const encodings: number[] = [];
      let growth = 0;
      let about = '';
      for (let round = 0; round < ROUNDS; round += 1) {
        times.lines.push(await timed(async () => countLines(path)));
        const before = round === 0 ? await memory() : 0;
        const index = new EventsIndex({ path, checkpoint: null, logger: silentLogger });
        times.build.push(await timed(() => index.read(() => undefined)));
        if (round === 0) growth = (await memory()) - before;
        const kept = new EventsIndex({ path, checkpoint, logger: silentLogger });
        await kept.read(() => undefined);
        await kept.save();
        const again = new EventsIndex({ path, checkpoint, logger: silentLogger });
        times.restart.push(await timed(() => again.read(() => undefined)));
        times.plain.push(await timed(() => parsePlainly(path)));
        const encode = () =>
          Buffer.concat(index.encodeBuckets(end - 14 * 86_400_000, end).map(({ bytes }) => bytes ?? NONE));
        times.first.push(await timed(async () => encode()));
        for (let nth = 0; nth < ENCODINGS / ROUNDS; nth += 1)
          encodings.push(await timed(async () => encode()));
        const { lines, buckets } = index.counts;
        const size = encode().length;
        about = `${lines} events, ${buckets} buckets, a body of ${(size / 2 ** 20).toFixed(1)} MiB`;
        log(
          `round ${round + 1}: build ${ms(times.build)}, parse plainly ${ms(times.plain)}, count lines ${ms(times.lines)}, restart ${ms(times.restart)}`,
        );
      }
      log(about);
      const each = (of: number[], by: number[]) => median(of.map((time, round) => time / (by[round] ?? 1)));
      return [
        judged(
          {
            name: 'times as fast as readline and JSON.parse',
            value: each(times.plain, times.build),
            unit: '×',
            against: [
              { name: 'index', value: median(times.build), unit: 'ms' },
              { name: 'readline and JSON.parse', value: median(times.plain), unit: 'ms' },
            ],
          },
          { least: 2.5 },
        ),
        shown('share of the build that only counting lines takes', 100 * each(times.lines, times.build), '%'),
        judged(
          {
            name: 'restart from the checkpoint, of a build',
            value: 100 * each(times.restart, times.build),
            unit: '%',
            against: [{ name: 'restart', value: median(times.restart), unit: 'ms' }],
          },
          { most: 5 },
        ),
        shown('encoding 14 days for the first time', median(times.first), 'ms'),
        judged({ name: 'encoding 14 days, p99', value: percentile(encodings, 99), unit: 'ms' }, { most: 15 }),
        judged({ name: 'memory by bytes indexed', value: growth / bytes, unit: '×' }, { most: 0.6 }),
      ];
    }),
};

async function parsePlainly(path: string): Promise<void> {
  for (const file of [`${path}.1`, path]) {
    for await (const line of createInterface({
      input: createReadStream(file),
      crlfDelay: Number.POSITIVE_INFINITY,
    }))
      JSON.parse(line);
  }
}

async function memory(): Promise<number> {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function ms(times: number[]): string {
  return `${(times.at(-1) ?? 0).toFixed(0)} ms`;
}
