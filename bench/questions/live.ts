import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { BENCH_HOST, startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, median, percentile, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const CLIENTS = 200;
const FIBERS = 10_000;
const CHANGES = 40;
const EVERY_MS = 1_000;

export const bench: Bench = {
  name: 'live',
  question: 'what do 200 clients of GET /live cost at one change a second, and how soon are they told?',
  run: (log) =>
    withScratch(async (folder) => {
      const root = join(folder, 'store');
      const { documents } = generateStore(root, {
        fibers: FIBERS,
        host: BENCH_HOST,
        project_dir: folder,
        served: 0,
      });
      const daemon = await startDaemon({ folder, stores: [root], measured: false });
      const clients: WebSocket[] = [];
      try {
        await daemon.fresh();
        const told: number[] = [];
        let changed_at: number | null = null;
        const connect = async () => {
          const client = new WebSocket(`ws://127.0.0.1:${daemon.port}/api/v1/live`);
          clients.push(client);
          await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
          client.on('message', () => {
            if (changed_at !== null) told.push(performance.now() - changed_at);
          });
        };
        const change = async (round: number) => {
          changed_at = performance.now();
          appendFileSync(documents[(round * 97) % documents.length]!, '\nOne more line.\n');
          await wait(EVERY_MS - (performance.now() - changed_at));
        };
        const measure = async (from: number) => {
          const before = processorSeconds(daemon.pid);
          const began = performance.now();
          for (let round = 0; round < CHANGES; round += 1) await change(from + round);
          return (100 * (processorSeconds(daemon.pid) - before)) / ((performance.now() - began) / 1_000);
        };
        const alone = await measure(0);
        log(`${CHANGES} changes without a client`);
        for (let one = 0; one < CLIENTS; one += 1) await connect();
        await wait(EVERY_MS);
        told.length = 0;
        const beside = await measure(CHANGES);
        log(`${told.length} messages to ${CLIENTS} clients`);
        const against = [
          { name: 'with clients', value: beside, unit: '%' },
          { name: 'without', value: alone, unit: '%' },
        ];
        return [
          judged(
            { name: 'share of a core for the clients', value: beside - alone, unit: '%', against },
            { most: 5 },
          ),
          judged(
            {
              name: 'from the edit to the message, p99',
              value: percentile(told, 99),
              unit: 'ms',
              against: [{ name: 'median', value: median(told), unit: 'ms' }],
            },
            { most: 100 },
          ),
          shown('messages', told.length, ''),
          shown('of at least', CLIENTS * CHANGES, ''),
        ];
      } finally {
        for (const client of clients) client.terminate();
        await daemon.stop();
      }
    }),
};

/** Processor time of all threads of a process so far. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
