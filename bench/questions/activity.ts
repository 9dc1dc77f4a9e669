import { appendFileSync, mkdirSync, renameSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { portOf, startProgram, stopProgram } from '../child.ts';
import { type Connection, openConnection, openCounter } from '../connection.ts';
import { type BenchDaemon, startDaemon, wait } from '../daemon.ts';
import { generateEvents } from '../events.ts';
import { type Bench, type Figure, judged, median, percentile, shown } from '../frame.ts';
import { compareSameBytes } from '../same-bytes.ts';
import { withScratch } from '../scratch.ts';

const WINDOW_MS = 14 * 86_400_000;
const APPENDS = 200;
const READS = 100;
const BUILDS = 15;
/** A window in which nothing ever was, whose tag tells of every change all the same. */
const EMPTY = '/api/v1/activity?from_ms=0&to_ms=60000';
/** Milliseconds between two requests whose delay is taken. */
const EVERY_MS = 2;
/** As `threads/thread-priority.ts` has it. */
const STEPS_BACK = 5;

export const bench: Bench = {
  name: 'activity',
  question: 'what do the time routes cost over 14 days of events, and what does the index cost the others?',
  run: (log) =>
    withScratch(async (folder) => {
      const aside = join(folder, 'aside');
      mkdirSync(aside);
      const events = join(aside, 'events.jsonl');
      const end = generateEvents(events);
      const live = join(folder, 'events.jsonl');
      const daemon = await startDaemon({ folder, stores: [], env: { SVC_EVENTS_FILE: live } });
      let connection: Connection | null = null;
      try {
        const during = await builds(daemon, { aside: events, live });
        log(`${BUILDS} builds of the index beside GET /version`);
        const beside = await besideWork(live);
        connection = await openConnection(daemon.port);
        const path = `/api/v1/activity?from_ms=${end - WINDOW_MS}&to_ms=${end}`;
        const whole = await connection.get(path);
        log(`${(whole.body.length / 2 ** 20).toFixed(1)} MiB of activity`);
        const counter = await openCounter(daemon.port);
        const reads: number[] = [];
        for (let read = 0; read < READS; read += 1) {
          const { etag } = await connection.get(EMPTY);
          append(live, end - 1, read);
          await moved(connection, EMPTY, etag);
          reads.push(await timed(() => counter.get(path)));
        }
        const again: number[] = [];
        for (let read = 0; read < READS; read += 1) again.push(await timed(() => counter.get(path)));
        counter.close();
        const floor = await bare(path, whole.body.length);
        const visible = await appends(connection, live, end);
        const { etag } = await connection.get(path);
        const unchanged = await compareSameBytes({
          port: daemon.port,
          path,
          headers: `If-None-Match: ${etag}\r\n`,
          log,
        });
        return [
          figure('14 days after each event, p99', reads, 15, floor),
          figure('14 days again, p99', again, 15, floor),
          figure('from an event in the file to GET /activity, p99', visible, 50),
          judged(
            {
              name: 'p99 of GET /version while the index is built, of the same at rest',
              value: shift(during),
              unit: '%',
              against: [
                { name: 'building', value: percentile(during.busy, 99), unit: 'ms' },
                { name: 'at rest', value: percentile(during.quiet, 99), unit: 'ms' },
                { name: 'of bare uWS beside one that counts the lines', value: shift(beside), unit: '%' },
              ],
            },
            { most: 120 },
          ),
          ...unchanged,
          shown('the body that is not sent', whole.body.length / 2 ** 20, 'MiB'),
        ];
      } finally {
        connection?.close();
        await daemon.stop();
      }
    }),
};

/** Milliseconds of each request, over all builds and all rests between them. */
type Delays = { busy: number[]; quiet: number[] };

/** Lays both files in place and takes them away again, each time with `GET /version` asked all the while. */
async function builds(daemon: BenchDaemon, files: { aside: string; live: string }) {
  const all: Delays = { busy: [], quiet: [] };
  const connection = await openConnection(daemon.port);
  const entries = async () => {
    const { body } = await connection.get('/api/v1/state');
    return (JSON.parse(body.toString()) as { ledgers?: { events?: { entries: number } | null } }).ledgers
      ?.events?.entries;
  };
  await delays(connection, 2_000, async () => true);
  for (let build = 0; build < BUILDS; build += 1) {
    all.quiet.push(...(await delays(connection, 1_000, async () => true)));
    renameSync(`${files.aside}.1`, `${files.live}.1`);
    renameSync(files.aside, files.live);
    all.busy.push(...(await delays(connection, 400, async () => ((await entries()) ?? 0) > 0)));
    if (build === BUILDS - 1) break;
    renameSync(files.live, files.aside);
    renameSync(`${files.live}.1`, `${files.aside}.1`);
    while ((await entries()) !== 0) await wait(20);
  }
  connection.close();
  return all;
}

/** The same of bare uWebSockets.js, beside a process that only counts the lines, as far behind as a build is. */
async function besideWork(live: string): Promise<Delays> {
  const answer = { path: '/api/v1/version', status: '200 OK', headers: {}, body: 200 };
  const server = startProgram('servers/bare-uws.ts', [JSON.stringify([answer])]);
  const all: Delays = { busy: [], quiet: [] };
  try {
    const connection = await openConnection(await portOf(server));
    await delays(connection, 1_000, async () => true);
    for (let round = 0; round < BUILDS; round += 1) {
      all.quiet.push(...(await delays(connection, 1_000, async () => true)));
      const counting = startProgram('servers/count-lines.ts', [live]);
      setPriority(counting.pid as number, getPriority() + STEPS_BACK);
      all.busy.push(...(await delays(connection, 400, async () => true)));
      await stopProgram(counting);
    }
    connection.close();
  } finally {
    await stopProgram(server);
  }
  return all;
}

function shift({ busy, quiet }: Delays): number {
  return (100 * percentile(busy, 99)) / percentile(quiet, 99);
}

/** Milliseconds of each of the requests that are sent for a while, and then until `done`. */
async function delays(connection: Connection, least_ms: number, done: () => Promise<boolean>) {
  const all: number[] = [];
  const from = performance.now();
  do {
    for (let request = 0; request < 50; request += 1) {
      all.push(await timed(() => connection.get('/api/v1/version')));
      await wait(EVERY_MS);
    }
  } while (performance.now() - from < least_ms || !(await done()));
  return all;
}

async function appends(connection: Connection, live: string, end: number): Promise<number[]> {
  const path = `/api/v1/activity?from_ms=${end - 60_000}&to_ms=${end}`;
  const times: number[] = [];
  for (let nth = 0; nth < APPENDS; nth += 1) {
    const { etag } = await connection.get(path);
    const from = performance.now();
    append(live, end - 1, nth);
    await moved(connection, path, etag);
    times.push(performance.now() - from);
    await wait((nth * 37) % 100);
  }
  return times;
}

async function moved(connection: Connection, path: string, etag: string | null): Promise<void> {
  while ((await connection.get(path, etag)).status === 304) await wait(1);
}

function append(file: string, timestamp: number, nth: number): void {
  const line = { timestamp, type: 'stop', sessionId: `appended-${nth % 7}`, cwd: '/srv', harness: 'claude' };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Milliseconds that bare uWebSockets.js takes for a body of that size. */
async function bare(path: string, size: number): Promise<number[]> {
  const [pathname = path] = path.split('?');
  const server = startProgram('servers/bare-uws.ts', [
    JSON.stringify([{ path: pathname, status: '200 OK', headers: {}, body: size }]),
  ]);
  try {
    const counter = await openCounter(await portOf(server));
    const times: number[] = [];
    for (let read = 0; read < READS; read += 1) times.push(await timed(() => counter.get(path)));
    counter.close();
    return times;
  } finally {
    await stopProgram(server);
  }
}

function figure(name: string, values: number[], most: number, floor?: number[]): Figure {
  const against = [{ name: 'median', value: median(values), unit: 'ms' }];
  if (floor !== undefined) {
    against.push({ name: 'bare uWS, p99', value: percentile(floor, 99), unit: 'ms' });
    against.push({ name: 'its median', value: median(floor), unit: 'ms' });
  }
  return judged({ name, value: percentile(values, 99), unit: 'ms', against }, { most });
}
