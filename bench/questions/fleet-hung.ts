import { join } from 'node:path';
import { stopProgram } from '../child.ts';
import { BENCH_HOST, startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, median, percentile } from '../frame.ts';
import { cpuSeconds } from '../process-cost.ts';
import {
  CompositeReader,
  followed,
  hostNames,
  pinToOneCore,
  readModel,
  startRemoteHosts,
  writeRemotes,
} from '../remote-hosts.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const REMOTES = 100;
const HUNG = 10;
const ROWS = 300;
const EDITED_SHARE = 0.01;
const ROUNDS = 7;
/** The breakers of all that hang have tripped by then; a stream to who comes back is open again. */
const SETTLE_MS = 6_000;
const WATCHED_MS = 8_000;

export const bench: Bench = {
  name: 'fleet-hung',
  question: `how much later is an edit in the composite while ${HUNG} of ${REMOTES} hosts hang?`,
  run: (log) =>
    withScratch(async (folder) => {
      const model = await readModel(folder, ROWS);
      const shape = { folder: join(folder, 'r'), model, edited_share: EDITED_SHARE };
      const [well, stopped] = [hostNames(HUNG, REMOTES - HUNG), hostNames(0, HUNG)];
      const others = await startRemoteHosts({ ...shape, hosts: well });
      const hanging = await startRemoteHosts({ ...shape, hosts: stopped });
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: BENCH_HOST,
        project_dir: '/srv',
      });
      const hub = await startDaemon({ folder, stores: [root], measured: false });
      try {
        pinToOneCore(hub);
        await hub.fresh();
        writeRemotes(folder, shape.folder, [...stopped, ...well]);
        await followed(hub, REMOTES);
        const reader = await CompositeReader.open(hub.port);
        others.kill('SIGUSR2');
        await wait(SETTLE_MS);
        const watch = async () => {
          reader.take();
          const [before, from] = [cpuSeconds(hub.pid), performance.now()];
          await wait(WATCHED_MS);
          const cpu = (100_000 * (cpuSeconds(hub.pid) - before)) / (performance.now() - from);
          return { cpu, ms: reader.take().map(({ ms }) => ms) };
        };
        const rounds = { well: [] as Watched[], hung: [] as Watched[] };
        for (let round = 0; round < ROUNDS; round += 1) {
          rounds.well.push(await watch());
          // They go on listening, and answer nothing.
          hanging.kill('SIGSTOP');
          // From the moment at which they hang, and when their breakers have tripped.
          rounds.hung.push(await watch());
          hanging.kill('SIGCONT');
          await followed(hub, REMOTES);
          await wait(SETTLE_MS);
          const p99 = (all: Watched[]) => `${percentile(all.at(-1)!.ms, 99).toFixed(1)} ms`;
          log(`round ${round + 1}: ${p99(rounds.well)}, and ${p99(rounds.hung)} while ${HUNG} hang`);
        }
        reader.close();
        const [before, during] = [rounds.well.flatMap(({ ms }) => ms), rounds.hung.flatMap(({ ms }) => ms)];
        const cpu = (all: Watched[]) => median(all.map((one) => one.cpu));
        // Of neighbouring rounds, since the machine is not ours alone.
        const ratios = rounds.hung.map(
          ({ ms }, round) => (100 * percentile(ms, 99)) / percentile(rounds.well[round]!.ms, 99),
        );
        return [
          judged(
            {
              name: 'p99 from an edit to the composite, of that while none hangs',
              value: median(ratios),
              unit: '%',
              against: [
                { name: `while ${HUNG} hang`, value: percentile(during, 99), unit: 'ms' },
                { name: 'while none does', value: percentile(before, 99), unit: 'ms' },
                { name: 'median', value: median(during), unit: 'ms' },
                { name: 'while none does', value: median(before), unit: 'ms' },
                { name: 'CPU of the hub', value: cpu(rounds.hung), unit: '%' },
                { name: 'while none hangs', value: cpu(rounds.well), unit: '%' },
              ],
            },
            { most: 120 },
          ),
        ];
      } finally {
        hanging.kill('SIGCONT');
        await hub.stop();
        await Promise.all([stopProgram(others), stopProgram(hanging)]);
      }
    }),
};

type Watched = { cpu: number; ms: number[] };
