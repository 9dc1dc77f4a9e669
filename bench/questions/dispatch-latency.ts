import { join } from 'node:path';
import { BENCH_HOST, startDaemon, wait, writeStillAgent } from '../daemon.ts';
import { type Bench, judged, median, percentile } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';
import { endServer, endServerWithUs, listSessions, tmux } from '../tmux.ts';

const ROUNDS = 30;
const SLACK_MS = 25;

export const bench: Bench = {
  name: 'dispatch-latency',
  question: 'how long from POST /dispatch to a session that runs?',
  run: (log) =>
    withScratch(async (folder) => {
      writeStillAgent(folder);
      const project_dir = folder;
      const { root } = generateStore(join(folder, 's'), { fibers: 2_000, host: 'elsewhere', project_dir });
      const own = join(folder, 'o');
      generateStore(own, {
        fibers: ROUNDS + 2,
        host: BENCH_HOST,
        project_dir,
        served: 1,
        seed: 11,
        first: 50_000,
      });
      const bare = join(folder, 'b');
      endServerWithUs(bare);
      const daemon = await startDaemon({ folder, stores: [root, own] });
      try {
        await daemon.fresh();
        const ids = await daemon.ownFibers();
        await tmux(bare, ['new-session', '-d', '-s', 'keep', 'sleep 600']);
        // The first launch starts a server; both sides are measured on one that runs.
        await daemon.dispatch(ids.shift() ?? '');
        await wait(1_000);
        await daemon.loopDelay();
        const ours: number[] = [];
        const floor: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          floor.push(
            await timed(() => tmux(bare, ['new-session', '-d', '-s', `bare-${round}`, 'exec sleep 600'])),
          );
          const session = { name: '' };
          ours.push(
            await timed(async () => {
              session.name = await daemon.dispatch(ids[round] ?? '');
            }),
          );
          if (!(await listSessions(daemon.tmux_socket)).includes(session.name))
            throw new Error(`the session ${session.name} does not exist after its dispatch`);
          await wait(50);
        }
        log(`dispatch ${Math.min(...ours).toFixed(0)} to ${Math.max(...ours).toFixed(0)} ms`);
        const bound = 1.5 * median(floor) + SLACK_MS;
        return [
          judged(
            {
              name: 'dispatch, answered with its session running',
              value: median(ours),
              unit: 'ms',
              against: [
                { name: 'p90', value: percentile(ours, 90), unit: 'ms' },
                { name: 'bare tmux new-session', value: median(floor), unit: 'ms' },
              ],
            },
            { most: Math.round(bound * 10) / 10 },
          ),
          await daemon.loopFigure('while it launches'),
        ];
      } finally {
        await daemon.stop();
        await endServer(daemon.tmux_socket);
        await endServer(bare);
      }
    }),
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
