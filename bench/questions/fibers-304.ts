import { join } from 'node:path';
import { openConnection } from '../connection.ts';
import { startDaemon } from '../daemon.ts';
import { type Bench, shown } from '../frame.ts';
import { compareSameBytes } from '../same-bytes.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const PATH = '/api/v1/fibers';

export const bench: Bench = {
  name: 'fibers-304',
  question: 'what does it cost to tell a client that nothing moved among 10,000 fibers?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10_000,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const daemon = await startDaemon({ folder, stores: [root] });
      try {
        await daemon.fresh();
        const connection = await openConnection(daemon.port);
        const whole = await connection.get(PATH);
        connection.close();
        await daemon.loopDelay();
        const figures = await compareSameBytes({
          port: daemon.port,
          path: PATH,
          headers: `If-None-Match: ${whole.etag}\r\n`,
          log,
        });
        return [
          ...figures,
          shown('the body that is not sent', whole.body.length / 2 ** 20, 'MiB'),
          await daemon.loopFigure('under this load'),
        ];
      } finally {
        await daemon.stop();
      }
    }),
};
