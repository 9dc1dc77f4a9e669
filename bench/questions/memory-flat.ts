import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countAnswers } from '../answers.ts';
import { openConnection } from '../connection.ts';
import { startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const REQUESTS = 1_000_000;
const STEPS = 10;
/** Of all requests, those that warm the daemon up before memory is first taken. */
const WARM_UP = 200_000;

export const bench: Bench = {
  name: 'memory-flat',
  question: `does the memory of the daemon grow over ${REQUESTS} requests?`,
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 1_000,
        host: 'elsewhere',
        project_dir: folder,
      });
      const daemon = await startDaemon({ folder, stores: [root], measured: false });
      try {
        await daemon.fresh();
        const connection = await openConnection(daemon.port);
        const { etag } = await connection.get('/api/v1/fibers');
        connection.close();
        const fibers = `GET /api/v1/fibers HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: ${etag}\r\n\r\n`;
        const version = 'GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
        const unknown = 'GET /api/v1/none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
        const send = async (count: number) => {
          for (const request of [fibers, version, unknown]) {
            const load = { port: daemon.port, request, connections: 8, pipeline: 8 };
            await countAnswers(load, (answers) => answers >= count / 3);
          }
        };
        await send(WARM_UP);
        const figures = [await restingMb(daemon.pid)];
        for (let step = 0; step < STEPS; step += 1) {
          await send(REQUESTS / STEPS);
          figures.push(await restingMb(daemon.pid));
        }
        log(
          `RSS after every ${REQUESTS / STEPS} requests: ${figures.map((mb) => mb.toFixed(0)).join(', ')} MB`,
        );
        const [first = 0] = figures;
        const last = figures.at(-1) ?? 0;
        return [
          judged(
            {
              name: 'RSS after all requests less that after the warm-up',
              value: last - first,
              unit: 'MB',
              against: [
                { name: 'after the warm-up', value: first, unit: 'MB' },
                { name: 'at the end', value: last, unit: 'MB' },
              ],
            },
            { most: 10 },
          ),
          shown('the most in between', Math.max(...figures), 'MB'),
        ];
      } finally {
        await daemon.stop();
      }
    }),
};

/** What a process holds in memory once it has had a second without work. */
async function restingMb(pid: number): Promise<number> {
  await wait(1_000);
  const [, kb = 'NaN'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kb) / 1024;
}
