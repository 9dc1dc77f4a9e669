import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { callerEnvironment } from '../../test/kit/caller-environment.ts';
import { type Form, launcherOf } from '../built-package.ts';
import { startDaemon } from '../daemon.ts';
import { type Bench, type Figure, judged, median } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const ROUNDS = 9;

export const bench: Bench = {
  name: 'startup',
  question: 'how long does a command take, and a daemon until it is ready?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const cache = join(folder, 'k');
      const times = { floor: [] as number[], version: forms(), page: forms(), ready: forms() };
      for (let round = 0; round <= ROUNDS; round += 1) {
        const floor = await run(['-e', '0'], cache);
        if (round > 0) times.floor.push(floor);
        for (const form of ['package', 'checkout'] as const) {
          const version = await run([launcherOf(form), '--version'], cache);
          const home = join(folder, `${form}${round}`);
          const daemon = await startDaemon({
            folder: home,
            stores: [root],
            form,
            measured: false,
            env: { XDG_CACHE_HOME: cache },
          });
          const page = await run([launcherOf(form), 'ps'], cache, { SVC_DATA_DIR: join(home, 'd') });
          await daemon.stop();
          // The first round fills the compile cache.
          if (round === 0) continue;
          times.version[form].push(version);
          times.page[form].push(page);
          times.ready[form].push(daemon.ready_ms);
        }
      }
      log(`medians of ${ROUNDS} rounds, with a warm compile cache`);
      return [
        figure('svc --version', times.version, times.floor),
        figure('svc ps', times.page, times.floor),
        judged(figure('svc daemon run until ready', times.ready, times.floor), { most: 1_000 }),
      ];
    }),
};

function forms(): Record<Form, number[]> {
  return { package: [], checkout: [] };
}

function figure(name: string, times: Record<Form, number[]>, floor: number[]): Figure {
  return {
    name,
    value: median(times.package),
    unit: 'ms',
    against: [
      { name: 'from a checkout', value: median(times.checkout), unit: 'ms' },
      { name: 'node -e 0', value: median(floor), unit: 'ms' },
    ],
    target: null,
    met: null,
  };
}

function run(args: string[], cache: string, env: NodeJS.ProcessEnv = {}): Promise<number> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      env: { ...callerEnvironment(), XDG_CACHE_HOME: cache, HOME: cache, ...env },
      stdio: 'ignore',
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - from);
      else reject(new Error(`${args.join(' ')} ended with ${code}`));
    });
  });
}
