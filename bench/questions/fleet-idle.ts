import { join } from 'node:path';
import { stopProgram } from '../child.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon, wait } from '../daemon.ts';
import { type Bench, type Figure, judged, shown } from '../frame.ts';
import { cpuSeconds, memoryOf } from '../process-cost.ts';
import {
  followed,
  hostNames,
  type PollingResult,
  pinToOneCore,
  readModel,
  runPollingHub,
  startRemoteHosts,
  writeRemotes,
} from '../remote-hosts.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const REMOTES = 1_000;
const ROWS = 30;
const SETTLE_MS = 20_000;
/** In which each remote is asked once, besides what its stream costs. */
const WATCHED_MS = 60_000;
/** As often as a hub asks who holds no stream. */
const POLL_EVERY_MS = 5_000;
const POLLED_MS = 20_000;

export const bench: Bench = {
  name: 'fleet-idle',
  question: `what does it cost to follow ${REMOTES} hosts on which nothing happens?`,
  run: (log) =>
    withScratch(async (folder) => {
      const model = await readModel(folder, ROWS);
      const simulated = {
        ...{ folder: join(folder, 'r'), hosts: hostNames(0, REMOTES), model, edited_share: 0 },
      };
      const remotes = await startRemoteHosts(simulated);
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: BENCH_HOST,
        project_dir: '/srv',
      });
      const hub = await startDaemon({ folder, stores: [root], measured: false });
      try {
        pinToOneCore(hub);
        await hub.fresh();
        await wait(SETTLE_MS);
        const alone = { cpu: await cpuOf(hub, POLLED_MS), rss: memoryOf(hub.pid).rss };
        log(`without a remote: ${alone.cpu.toFixed(2)} %`);
        writeRemotes(folder, simulated.folder, simulated.hosts);
        const from = performance.now();
        await followed(hub, REMOTES);
        const found_ms = performance.now() - from;
        await wait(SETTLE_MS);
        const cpu = await cpuOf(hub, WATCHED_MS);
        const { rss } = memoryOf(hub.pid);
        log(`with ${REMOTES}: ${cpu.toFixed(2)} %`);
        const polling = { folder: simulated.folder, hosts: simulated.hosts, interval_ms: POLL_EVERY_MS };
        const by_etag = await runPollingHub({ ...polling, etag: true, for_ms: POLLED_MS });
        const by_whole = await runPollingHub({ ...polling, etag: false, for_ms: POLLED_MS });
        return [
          judged(
            {
              name: 'CPU of the hub, of one core',
              value: cpu,
              unit: '%',
              against: [{ name: 'without a remote', value: alone.cpu, unit: '%' }],
            },
            { most: 5 },
          ),
          shown('until all of them are fresh', found_ms / 1_000, 's'),
          {
            ...shown('memory (RSS) for each of them', ((rss - alone.rss) * 1_000) / REMOTES, 'kB'),
            against: [
              { name: 'its rows', value: model.rows.join().length / 1_000, unit: 'kB' },
              { name: 'without a remote', value: alone.rss, unit: 'MB' },
            ],
          },
          polled('by ETag', by_etag),
          polled('whole', by_whole),
        ];
      } finally {
        await hub.stop();
        await stopProgram(remotes);
      }
    }),
};

async function cpuOf(hub: BenchDaemon, ms: number): Promise<number> {
  const [before, from] = [cpuSeconds(hub.pid), performance.now()];
  await wait(ms);
  return (100_000 * (cpuSeconds(hub.pid) - before)) / (performance.now() - from);
}

function polled(name: string, { cpu, answers }: PollingResult): Figure {
  return {
    ...shown(`polling ${name} every ${POLL_EVERY_MS / 1_000} s: CPU, of one core`, cpu, '%'),
    against: [{ name: 'answers', value: answers / (POLLED_MS / 1_000), unit: 'a second' }],
  };
}
