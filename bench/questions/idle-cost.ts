import { join } from 'node:path';
import type { Form } from '../built-package.ts';
import { BENCH_HOST, startDaemon, wait, writeStillAgent } from '../daemon.ts';
import { type Bench, judged } from '../frame.ts';
import { cpuSeconds, memoryOf } from '../process-cost.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';
import { endServer, listSessions } from '../tmux.ts';

const FIBERS = 2_000;
const WORKERS = 20;
/** Time for the threads of the cold listing to end and for heaps to settle. */
const SETTLE_MS = 45_000;
const WATCHED_MS = 60_000;

export const bench: Bench = {
  name: 'idle-cost',
  question: 'what does a daemon with 2,000 fibers and 20 workers cost while nothing happens?',
  async run(log) {
    const [built, checkout] = await Promise.all([watch('package', log), watch('checkout', log)]);
    return [
      judged({ name: 'CPU of one core', value: built.cpu, unit: '%' }, { most: 1 }),
      judged(
        {
          name: 'memory (RSS) of the built package',
          value: built.rss,
          unit: 'MB',
          against: [
            { name: 'PSS', value: built.pss, unit: 'MB' },
            { name: 'RSS run from a checkout', value: checkout.rss, unit: 'MB' },
            { name: 'its CPU', value: checkout.cpu, unit: '%' },
          ],
        },
        { most: 250 },
      ),
    ];
  },
};

type Cost = { cpu: number; rss: number; pss: number };

function watch(form: Form, log: (line: string) => void): Promise<Cost> {
  return withScratch(async (folder) => {
    writeStillAgent(folder);
    const shape = { project_dir: folder };
    const { root } = generateStore(join(folder, 's'), {
      ...shape,
      fibers: FIBERS - WORKERS,
      host: 'elsewhere',
    });
    const own = join(folder, 'o');
    generateStore(own, { ...shape, fibers: WORKERS, host: BENCH_HOST, served: 1, seed: 11, first: 50_000 });
    const daemon = await startDaemon({ folder, stores: [root, own], form, measured: false });
    try {
      await daemon.fresh();
      for (const id of await daemon.ownFibers()) await daemon.dispatch(id);
      const sessions = await listSessions(daemon.tmux_socket);
      const workers = sessions.filter((name) => name.endsWith('-svc')).length;
      if (workers !== WORKERS) throw new Error(`${workers} workers run, not ${WORKERS}`);
      await wait(SETTLE_MS);
      const before = cpuSeconds(daemon.pid);
      const from = performance.now();
      await wait(WATCHED_MS);
      const spent = cpuSeconds(daemon.pid) - before;
      const cpu = (spent / ((performance.now() - from) / 1000)) * 100;
      const memory = memoryOf(daemon.pid);
      log(
        `${form}: ${cpu.toFixed(2)} % CPU, RSS ${memory.rss.toFixed(0)} MB, PSS ${memory.pss.toFixed(0)} MB`,
      );
      return { cpu, ...memory };
    } finally {
      await daemon.stop();
      await endServer(daemon.tmux_socket);
    }
  });
}
