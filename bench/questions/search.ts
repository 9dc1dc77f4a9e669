import { join } from 'node:path';
import { openConnection } from '../connection.ts';
import { startDaemon } from '../daemon.ts';
import { type Bench, judged, median, percentile, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const ROUNDS = 30;
/** One that nothing has, ones that some have, and ones that nearly every fiber has. */
const QUERIES = ['nowhere', 'parser+trims', '%22the+queue+rewrites%22', 'jou', 'status', 'loader+index'];

export const bench: Bench = {
  name: 'search',
  question: 'how long does a search over the bodies of 10,000 fibers take?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10_000,
        host: 'elsewhere',
        project_dir: folder,
      });
      const daemon = await startDaemon({ folder, stores: [root] });
      try {
        await daemon.fresh();
        const connection = await openConnection(daemon.port);
        const ask = async (query: string) => {
          const began = performance.now();
          const answer = await connection.get(`/api/v1/search?query=${query}`);
          if (answer.status !== 200) throw new Error(`a search answered ${answer.status}: ${answer.body}`);
          const { total, complete } = JSON.parse(answer.body.toString()) as {
            total: number;
            complete: boolean;
          };
          return { ms: performance.now() - began, total, complete };
        };
        const first = performance.now();
        while (!(await ask('nowhere')).complete);
        const cold = performance.now() - first;
        await daemon.loopDelay();
        const all: number[] = [];
        for (const query of QUERIES) {
          const times: number[] = [];
          let total = 0;
          for (let round = 0; round < ROUNDS; round += 1) {
            const asked = await ask(query);
            times.push(asked.ms);
            total = asked.total;
          }
          log(`${query}: ${total} fibers, median ${median(times).toFixed(1)} ms`);
          all.push(...times);
        }
        connection.close();
        return [
          judged({ name: 'a search, median', value: median(all), unit: 'ms' }, { most: 100 }),
          shown('a search, p95', percentile(all, 95), 'ms'),
          shown('the first one, which reads every body', cold, 'ms'),
          await daemon.loopFigure('while searches run'),
        ];
      } finally {
        await daemon.stop();
      }
    }),
};
