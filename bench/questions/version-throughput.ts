import { join } from 'node:path';
import { startDaemon } from '../daemon.ts';
import type { Bench } from '../frame.ts';
import { compareSameBytes } from '../same-bytes.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

export const bench: Bench = {
  name: 'version-throughput',
  question: 'what does our request handling cost, on the cheapest route?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const daemon = await startDaemon({ folder, stores: [root] });
      try {
        await daemon.fresh();
        await daemon.loopDelay();
        const figures = await compareSameBytes({
          port: daemon.port,
          path: '/api/v1/version',
          headers: '',
          log,
        });
        return [...figures, await daemon.loopFigure('under this load')];
      } finally {
        await daemon.stop();
      }
    }),
};
