import { join } from 'node:path';
import { portOf, startProgram, stopProgram } from '../child.ts';
import { openCounter } from '../connection.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon, wait } from '../daemon.ts';
import { type Bench, type Figure, judged, median, percentile, shown } from '../frame.ts';
import { cpuSeconds, memoryOf } from '../process-cost.ts';
import {
  COMPOSITE,
  CompositeReader,
  checkComposite,
  followed,
  hostNames,
  type PollingResult,
  pinToOneCore,
  readModel,
  runPollingHub,
  startRemoteHosts,
  writeRemotes,
} from '../remote-hosts.ts';
import { compareSameBytes } from '../same-bytes.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const REMOTES = 100;
const ROWS = 300;
const EDITED_SHARE = 0.01;
/** Until heaps have grown to what the load asks for. */
const SETTLE_MS = 25_000;
/** A hub keeps whole composites for a minute. */
const WATCHED_MS = 45_000;
const READS = 60;
const READ_EVERY_MS = 50;
const POLLED_MS = 12_000;
/** As often as a change has to be seen. */
const POLL_EVERY_MS = 250;

type Reads = { ours: number[]; floor: number[] };

export const bench: Bench = {
  name: 'fleet-feed',
  question: `what does it cost to follow ${REMOTES} hosts of ${ROWS} rows, 1 % of them edited each second, and how soon is an edit in the composite?`,
  run: (log) =>
    withScratch(async (folder) => {
      const model = await readModel(folder, ROWS);
      const simulated = {
        ...{ folder: join(folder, 'r'), hosts: hostNames(0, REMOTES), model, edited_share: EDITED_SHARE },
      };
      const remotes = await startRemoteHosts(simulated);
      const toggleEdits = () => void remotes.kill('SIGUSR2');
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: BENCH_HOST,
        project_dir: '/srv',
      });
      const hub = await startDaemon({ folder, stores: [root], measured: false });
      try {
        pinToOneCore(hub);
        await hub.fresh();
        await wait(SETTLE_MS);
        const alone = memoryOf(hub.pid);
        writeRemotes(folder, simulated.folder, simulated.hosts);
        await followed(hub, REMOTES);
        const { bytes } = await checkComposite(hub.port);
        log(`${(bytes / 2 ** 20).toFixed(1)} MiB of ${REMOTES} hosts`);
        toggleEdits();
        const [feed, idle] = await watchFeed(hub, alone.rss, bytes);
        log('edits watched');
        const moving = await readWhole(hub.port, bytes);
        toggleEdits();
        await wait(2_000);
        const still = await readWhole(hub.port, bytes);
        const copied = copyOf(bytes);
        const etag = await settledTag(hub.port);
        const unchanged = await compareSameBytes({
          port: hub.port,
          path: COMPOSITE,
          headers: `If-None-Match: ${etag}\r\n`,
          log,
        });
        toggleEdits();
        const polling = { folder: simulated.folder, hosts: simulated.hosts, interval_ms: POLL_EVERY_MS };
        const by_etag = await runPollingHub({ ...polling, etag: true, for_ms: POLLED_MS });
        log('polled by ETag');
        const by_whole = await runPollingHub({ ...polling, etag: false, for_ms: POLLED_MS });
        return [
          ...feed,
          composite('unchanged', still, copied),
          composite('while rows are edited', moving, copied),
          ...unchanged,
          ...idle,
          ...baseline('by ETag', by_etag),
          ...baseline('whole', by_whole),
        ];
      } finally {
        await hub.stop();
        await stopProgram(remotes);
      }
    }),
};

/** What a reader of the composite sees meanwhile, and what the hub takes for it. */
async function watchFeed(hub: BenchDaemon, alone: number, bytes: number): Promise<[Figure[], Figure[]]> {
  const reader = await CompositeReader.open(hub.port);
  await wait(SETTLE_MS);
  reader.take();
  const [before, from, reads] = [cpuSeconds(hub.pid), performance.now(), reader.reads];
  await wait(WATCHED_MS);
  const seconds = (performance.now() - from) / 1_000;
  const cpu = (100 * (cpuSeconds(hub.pid) - before)) / seconds;
  const seen = reader.take().map(({ ms }) => ms);
  const memory = memoryOf(hub.pid).rss - alone;
  const held = bytes / 1e6;
  reader.close();
  return [
    [
      judged(
        {
          name: 'from the edit of a remote to the composite of a reader, p99',
          value: percentile(seen, 99),
          unit: 'ms',
          against: [
            { name: 'median', value: median(seen), unit: 'ms' },
            { name: 'longest', value: percentile(seen, 100), unit: 'ms' },
            { name: 'edits seen', value: seen.length / seconds, unit: 'a second' },
            { name: 'reads', value: (reader.reads - reads) / seconds, unit: 'a second' },
          ],
        },
        { most: 250 },
      ),
      judged({ name: 'CPU of the hub, of one core', value: cpu, unit: '%' }, { most: 15 }),
    ],
    [
      judged(
        {
          name: 'memory (RSS) for the copies, of their bytes',
          value: memory / held,
          unit: '×',
          against: [
            { name: 'more than before', value: memory, unit: 'MB' },
            { name: 'before', value: alone, unit: 'MB' },
            { name: 'held', value: held, unit: 'MB' },
          ],
        },
        { most: 3 },
      ),
    ],
  ];
}

/** The tag of the composite once the last edits have reached the hub: another one would be answered with the whole. */
async function settledTag(port: number): Promise<string> {
  let before: string | null = null;
  for (let asked = 0; asked < 40; asked += 1) {
    const { etag } = await checkComposite(port);
    if (etag === before) return etag;
    before = etag;
    await wait(500);
  }
  throw new Error('the composite still changes 20 s after the last edit');
}

/** Milliseconds of each read of the whole composite, and of as many bytes of bare uWebSockets.js in turn with it. */
async function readWhole(port: number, bytes: number): Promise<Reads> {
  const answer = { path: COMPOSITE, status: '200 OK', headers: {}, body: bytes };
  const server = startProgram('servers/bare-uws.ts', [JSON.stringify([answer])]);
  try {
    const [ours, floor] = [await openCounter(port), await openCounter(await portOf(server))];
    const reads: Reads = { ours: [], floor: [] };
    for (let read = 0; read < READS; read += 1) {
      reads.floor.push(await timed(floor));
      reads.ours.push(await timed(ours));
      await wait(READ_EVERY_MS);
    }
    for (const counter of [ours, floor]) counter.close();
    return reads;
  } finally {
    await stopProgram(server);
  }
}

async function timed(counter: Awaited<ReturnType<typeof openCounter>>): Promise<number> {
  const from = performance.now();
  await counter.get(COMPOSITE);
  return performance.now() - from;
}

/** Milliseconds that it takes to copy so many bytes in memory. */
function copyOf(bytes: number): number {
  const [from, to] = [Buffer.alloc(bytes, 'x'), Buffer.alloc(bytes, 'y')];
  const times = Array.from({ length: READS }, () => {
    const began = performance.now();
    from.copy(to);
    return performance.now() - began;
  });
  return median(times);
}

/** What composing takes beyond sending, which bare uWebSockets.js has to do as well. */
function composite(when: string, { ours, floor }: Reads, copied: number): Figure {
  return judged(
    {
      name: `the whole composite ${when}, beyond sending it`,
      value: median(ours.map((ms, read) => ms - floor[read]!)),
      unit: 'ms',
      against: [
        { name: 'a read', value: median(ours), unit: 'ms' },
        { name: 'p99', value: percentile(ours, 99), unit: 'ms' },
        { name: 'bare uWS', value: median(floor), unit: 'ms' },
        { name: 'its p99', value: percentile(floor, 99), unit: 'ms' },
        { name: 'memcpy', value: copied, unit: 'ms' },
      ],
    },
    { most: Math.round(100 * (2 * copied + 2)) / 100 },
  );
}

function baseline(name: string, { seen, cpu, answers, unchanged, bytes }: PollingResult): Figure[] {
  const times = seen.map(({ ms }) => ms);
  return [
    {
      ...shown(`polling ${name} every ${POLL_EVERY_MS} ms: CPU, of one core`, cpu, '%'),
      against: [
        { name: 'to the edit, p99', value: percentile(times, 99), unit: 'ms' },
        { name: 'median', value: median(times), unit: 'ms' },
        { name: 'answers', value: answers / (POLLED_MS / 1_000), unit: 'a second' },
        { name: 'unchanged', value: unchanged / (POLLED_MS / 1_000), unit: 'a second' },
        { name: 'read', value: bytes / 2 ** 20 / (POLLED_MS / 1_000), unit: 'MiB/s' },
      ],
    },
  ];
}
