import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from '../connection.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon, wait, writeStillAgent } from '../daemon.ts';
import { type Bench, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';
import { endServer } from '../tmux.ts';

const FIBERS = 10_000;
const WORKERS = 20;
const MIXED_MS = 20_000;

export const bench: Bench = {
  name: 'main-loop-delay',
  question: 'how late is the main thread while everything happens at once?',
  run: (log) =>
    withScratch(async (folder) => {
      writeStillAgent(folder);
      const { root, documents } = generateStore(join(folder, 's'), {
        fibers: FIBERS,
        host: 'elsewhere',
        project_dir: folder,
      });
      const own = join(folder, 'o');
      generateStore(own, {
        fibers: WORKERS,
        host: BENCH_HOST,
        project_dir: folder,
        served: 1,
        seed: 11,
        first: 50_000,
      });
      const daemon = await startDaemon({
        folder,
        stores: [root, own],
        env: { SVC_POLL_INTERVAL_MS: '2000' },
      });
      try {
        await daemon.fresh();
        const start = await daemon.loopFigure('from ready to a fresh feed');
        await wait(5_000);
        const rest = await daemon.loopDelay();
        const until = performance.now() + MIXED_MS;
        const counts = await Promise.all([
          askOften(daemon, until),
          readWhole(daemon, until),
          editOften(documents, until),
          launchAll(daemon, until),
        ]);
        log(`${counts[0]} small reads, ${counts[1]} whole feeds, ${counts[2]} edits, ${counts[3]} launches`);
        return [
          start,
          await daemon.loopFigure('under all of it'),
          shown('p99 of the same daemon at rest', rest.daemon.p99, 'ms'),
        ];
      } finally {
        await daemon.stop();
        await endServer(daemon.tmux_socket);
      }
    }),
};

/** Ten clients that poll: small answers and unchanged feeds. */
async function askOften(daemon: BenchDaemon, until: number): Promise<number> {
  let asked = 0;
  const client = async () => {
    const connection = await openConnection(daemon.port);
    let etag: string | null = null;
    while (performance.now() < until) {
      await connection.get('/api/v1/version');
      etag = (await connection.get('/api/v1/fibers?svc=true', etag)).etag ?? etag;
      await connection.get('/api/v1/state');
      asked += 3;
      await wait(20);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: 10 }, client));
  return asked;
}

/** A board that fetches every new feed of 10,000 rows. */
async function readWhole(daemon: BenchDaemon, until: number): Promise<number> {
  const connection = await openConnection(daemon.port);
  let etag: string | null = null;
  let whole = 0;
  while (performance.now() < until) {
    const answer = await connection.get('/api/v1/fibers', etag);
    if (answer.status === 200) whole += 1;
    etag = answer.etag ?? etag;
    await wait(50);
  }
  connection.close();
  return whole;
}

async function editOften(documents: string[], until: number): Promise<number> {
  let edits = 0;
  while (performance.now() < until) {
    const path = documents[(edits * 7_919) % documents.length] ?? '';
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/^outcome: .*$/m, `outcome: Edit ${edits}`));
    edits += 1;
    await wait(250);
  }
  return edits;
}

async function launchAll(daemon: BenchDaemon, until: number): Promise<number> {
  let launched = 0;
  for (const id of await daemon.ownFibers()) {
    if (performance.now() > until) break;
    await daemon.dispatch(id);
    launched += 1;
    await wait(300);
  }
  return launched;
}
