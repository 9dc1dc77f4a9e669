import { join } from 'node:path';
import { openConnection } from '../connection.ts';
import { BENCH_HOST, startDaemon, wait, writeStillAgent } from '../daemon.ts';
import { type Bench, judged, median, percentile } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';
import { endServer, listSessions, tmux } from '../tmux.ts';

const WORKERS = 25;

export const bench: Bench = {
  name: 'end-noticed',
  question: 'how long from the end of an agent to a row without a worker?',
  run: (log) =>
    withScratch(async (folder) => {
      writeStillAgent(folder);
      const { root } = generateStore(join(folder, 's'), {
        fibers: WORKERS,
        host: BENCH_HOST,
        project_dir: folder,
        served: 1,
      });
      // Between two ticks only what tells of the end by itself can be seen.
      const daemon = await startDaemon({
        folder,
        stores: [root],
        env: { SVC_POLL_INTERVAL_MS: '60000' },
      });
      const connection = await openConnection(daemon.port);
      try {
        await daemon.fresh();
        const pids: { id: string; pid: number }[] = [];
        for (const id of await daemon.ownFibers()) {
          const session = await daemon.dispatch(id);
          const pane = await tmux(daemon.tmux_socket, [
            'list-panes',
            '-t',
            `=${session}:`,
            '-F',
            '#{pane_pid}',
          ]);
          pids.push({ id, pid: Number(pane) });
        }
        const running = async (id: string) => {
          const { body } = await connection.get(`/api/v1/fibers/${id}`);
          return JSON.parse(body.toString()).fiber.runtime !== undefined;
        };
        const [keep, ...others] = pids;
        if (keep === undefined || !(await running(keep.id))) throw new Error('no worker shows in its row');
        await daemon.loopDelay();
        const times: number[] = [];
        for (const { id, pid } of others) {
          const from = performance.now();
          process.kill(pid, 'SIGKILL');
          while (await running(id)) await wait(2);
          times.push(performance.now() - from);
        }
        log(`${times.length} ends, ${(await listSessions(daemon.tmux_socket)).length} sessions left`);
        return [
          judged(
            {
              name: 'end of an agent, seen in its row, p99',
              value: percentile(times, 99),
              unit: 'ms',
              against: [{ name: 'median', value: median(times), unit: 'ms' }],
            },
            { most: 1_000 },
          ),
          await daemon.loopFigure('while workers end'),
        ];
      } finally {
        connection.close();
        await daemon.stop();
        await endServer(daemon.tmux_socket);
      }
    }),
};
