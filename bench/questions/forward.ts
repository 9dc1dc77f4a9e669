import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countAnswers } from '../answers.ts';
import { openConnection } from '../connection.ts';
import { startDaemon } from '../daemon.ts';
import { type Bench, type Figure, median, percentile } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const OWNER = 'bench-owner';
const REQUESTS = 2_000;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const CONNECTIONS = 32;
const FILE_BYTES = 256 * 1024 * 1024;

/** Where a request goes: the daemon's port, and what its path adds. */
type Way = { name: string; port: number; suffix: string };

export const bench: Bench = {
  name: 'forward',
  question: 'what does it cost to ask a daemon through another one, beside asking it directly?',
  run: (log) =>
    withScratch(async (folder) => {
      const [hub_folder, owner_folder] = [join(folder, 'a'), join(folder, 'b')];
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: OWNER,
        project_dir: '/srv',
      });
      const large = join(folder, 'large');
      writeFileSync(large, Buffer.alloc(FILE_BYTES, 'x'));
      const owner = await startDaemon({
        folder: owner_folder,
        stores: [root],
        env: { SVC_HOST: OWNER },
        measured: false,
      });
      try {
        mkdirSync(join(hub_folder, 'c'), { recursive: true });
        writeFileSync(
          join(hub_folder, 'c/remotes.json'),
          JSON.stringify({ remotes: [{ name: OWNER, port: owner.port }] }),
        );
        const hub = await startDaemon({ folder: hub_folder, stores: [] });
        try {
          await owner.fresh();
          await hub.loopDelay();
          const ways: [Way, Way] = [
            { name: 'directly', port: owner.port, suffix: '' },
            { name: 'through another daemon', port: hub.port, suffix: `&origin=${OWNER}` },
          ];
          const figures = [
            ...(await latencies(ways)),
            await throughput(ways, log),
            await fileRate(ways, `/api/v1/file?path=${encodeURIComponent(large)}`),
          ];
          return [...figures, await hub.loopFigure('while it passes requests on')];
        } finally {
          await hub.stop();
        }
      } finally {
        await owner.stop();
      }
    }),
};

/** One request at a time, in turns. */
async function latencies(ways: [Way, Way]): Promise<Figure[]> {
  const times = await Promise.all(
    ways.map(async (way) => ({ way, ms: [] as number[], to: await openConnection(way.port) })),
  );
  for (let request = 0; request < REQUESTS; request += 1) {
    for (const { way, ms, to } of times) {
      const began = performance.now();
      const { status } = await to.get(`/api/v1/agents?x=1${way.suffix}`);
      if (status !== 200) throw new Error(`${way.name} was answered with ${status}`);
      ms.push(performance.now() - began);
    }
  }
  for (const { to } of times) to.close();
  const [direct, passed] = times.map(({ ms }) => ms) as [number[], number[]];
  return [50, 99].map((part) => ({
    ...{ name: `GET /agents passed on, p${part}`, value: percentile(passed, part), unit: 'ms' },
    against: [{ name: 'directly', value: percentile(direct, part), unit: 'ms' }],
    ...{ target: null, met: null },
  }));
}

async function throughput(ways: [Way, Way], log: (line: string) => void): Promise<Figure> {
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { port, suffix }] of ways.entries()) {
      const request = `GET /api/v1/agents?x=1${suffix} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
      const until = performance.now() + ROUND_MS;
      const load = { port, request, connections: CONNECTIONS, pipeline: 1 };
      const { answers, ms } = await countAnswers(load, () => performance.now() > until);
      rates[index]!.push((answers / ms) * 1_000);
    }
    log(`round ${round + 1}: ${rates.map((each) => Math.round(each.at(-1)!)).join(' and ')} a second`);
  }
  return {
    ...{ name: 'GET /agents passed on', value: median(rates[1]), unit: 'req/s' },
    against: [{ name: 'directly', value: median(rates[0]), unit: 'req/s' }],
    ...{ target: null, met: null },
  };
}

async function fileRate(ways: [Way, Way], path: string): Promise<Figure> {
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { port, suffix }] of ways.entries()) {
      const began = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}${path}${suffix}`);
      let size = 0;
      for await (const piece of answer.body ?? []) size += piece.length;
      if (size !== FILE_BYTES) throw new Error(`${size} bytes came, with ${answer.status}`);
      rates[index]!.push(FILE_BYTES / 1_048_576 / ((performance.now() - began) / 1_000));
    }
  }
  return {
    ...{ name: 'a file of 256 MiB passed on', value: median(rates[1]), unit: 'MiB/s' },
    against: [{ name: 'directly', value: median(rates[0]), unit: 'MiB/s' }],
    ...{ target: null, met: null },
  };
}
