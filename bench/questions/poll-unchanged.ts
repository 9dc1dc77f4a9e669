import { spawn } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { StoreIndex } from '../../src/fibers/store-index.ts';
import { startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, median, percentile, shown } from '../frame.ts';
import { withPool } from '../pool.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const FIBERS = 10_000;
const ROUNDS = 31;
const DAEMON_TICKS = 15;
/** A table row is only trusted once the change it saw is this old. */
const SETTLING_MS = 2_500;

export const bench: Bench = {
  name: 'poll-unchanged',
  question: 'what does a tick cost when nothing changed among 10,000 fibers?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: FIBERS,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const marker = join(folder, 'marker');
      writeFileSync(marker, '');
      utimesSync(marker, new Date(), new Date());
      await wait(SETTLING_MS);
      const ours: number[] = [];
      const find: number[] = [];
      await withPool(async (pool) => {
        const index = new StoreIndex();
        const poll = pool.poll(root, systemClock, silentLogger);
        const tick = async () => {
          const since = index.beginSweep();
          const result = await poll.sweep(60_000);
          if (result === null) throw new Error(poll.health.error ?? 'the store was not listed');
          index.apply(root, result, { since, read: () => null });
          if (index.size !== FIBERS) throw new Error(`${index.size} fibers were listed`);
        };
        await tick();
        await tick();
        for (let round = 0; round < ROUNDS; round += 1) {
          find.push(await timed(() => runFind(join(root, '.fibers'), marker)));
          ours.push(await timed(tick));
        }
      });
      log(`tick ${Math.min(...ours).toFixed(1)} to ${Math.max(...ours).toFixed(1)} ms`);
      const ratio = median(ours.map((ms, round) => ms / (find[round] ?? 1)));
      return [
        judged(
          {
            name: 'times find -newer',
            value: ratio,
            unit: '×',
            against: [
              { name: 'sweep and apply', value: median(ours), unit: 'ms' },
              { name: 'p90', value: percentile(ours, 90), unit: 'ms' },
              { name: 'find', value: median(find), unit: 'ms' },
            ],
          },
          { most: 3 },
        ),
        ...(await daemonTicks(folder, root)),
      ];
    }),
};

/** The same in a real daemon: the whole tick, with rows, the multiplexer and what is due. */
async function daemonTicks(folder: string, root: string) {
  const daemon = await startDaemon({ folder, stores: [root], env: { SVC_POLL_INTERVAL_MS: '400' } });
  try {
    await daemon.fresh();
    await wait(3_000);
    await daemon.loopDelay();
    const ticks: number[] = [];
    for (let tick = 0; tick < DAEMON_TICKS; tick += 1) {
      await wait(400);
      const { body } = await daemon.json('GET', '/api/v1/state');
      ticks.push((body as { poll_health: { last_tick_ms: number } }).poll_health.last_tick_ms);
    }
    return [
      shown('the whole tick in a daemon', median(ticks), 'ms'),
      await daemon.loopFigure('while it ticks'),
    ];
  } finally {
    await daemon.stop();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function runFind(folder: string, marker: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('find', [folder, '-newer', marker], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`find ended with ${code}`))));
  });
}
