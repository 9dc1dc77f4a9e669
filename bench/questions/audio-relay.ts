import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { callerEnvironment } from '../../test/kit/caller-environment.ts';
import { followAsBoard } from '../board-follower.ts';
import { endWithUs, portOf, startProgram, stopProgram } from '../child.ts';
import { openConnection } from '../connection.ts';
import { type BenchDaemon, startDaemon, wait, writeStillAgent } from '../daemon.ts';
import { generateEvents } from '../events.ts';
import { type Bench, type Figure, judged, median, percentile, shown } from '../frame.ts';
import {
  COMPOSITE,
  followed,
  hostNames,
  readModel,
  startRemoteHosts,
  writeRemotes,
} from '../remote-hosts.ts';
import { withScratch } from '../scratch.ts';
import type { StreamsAsked, StreamsTold } from '../servers/audio-streams.ts';
import { generateStore } from '../stores.ts';
import { endServer } from '../tmux.ts';

const FIBERS = 10_000;
const REMOTES = 20;
const ROWS = 300;
const STREAMS = 50;
const SECONDS = 8;
const ROUNDS = 3;
/** Boards that follow the composite by what changes in it. */
const BOARDS = 5;
/** Between two reads of the whole composite and the whole feed, in milliseconds: by a script, and as often as it goes. */
const SCRIPT_EVERY_MS = 1_000;
const HEAVY_EVERY_MS = 100;
/** The events are appended in pieces, over the time of one round. */
const EVENT_PIECES = 100;

/** Says that it is live, with the socket of the streams, and waits. */
const RECORDER = `#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in --state) state=$2 ;; --launch) launch=$2 ;; esac
  shift
done
trap 'exit 0' INT TERM HUP
printf '{"version":1,"launch":"%s","pid":%s,"process_started":null,"phase":"live","started_at":0,"phone":"%s","engine":"none","error":null}' \\
  "$launch" $$ "$SVC_BENCH_SINK" >"$state.new" && mv "$state.new" "$state"
while :; do sleep 1; done
`;

export const bench: Bench = {
  name: 'audio-relay',
  question: `how long is a frame of audio on its way to the recorder, with ${STREAMS} phones, while the daemon is busy?`,
  run: (log) =>
    withScratch(async (folder) => {
      const sink = join(folder, 'sink');
      const recorder = join(folder, 'recorder');
      writeFileSync(recorder, RECORDER, { mode: 0o755 });
      writeStillAgent(folder);
      const store = { fibers: FIBERS, host: 'elsewhere', project_dir: folder };
      const { root } = generateStore(join(folder, 's'), store);
      const hosts = hostNames(0, REMOTES);
      const remote = { folder: join(folder, 'r'), hosts, model: await readModel(folder, ROWS) };
      const remotes = await startRemoteHosts({ ...remote, edited_share: 0.01 });
      writeRemotes(folder, remote.folder, hosts);
      const streams = new Streams(sink);
      const bare = startProgram('servers/bare-relay.ts', [sink]);
      const daemon = await startDaemon({
        ...{ folder, stores: [root], imports: [new URL('../block-main.ts', import.meta.url)] },
        env: { SVC_RECORDER: recorder, SVC_BENCH_SINK: sink },
      });
      try {
        await streams.ready();
        await daemon.fresh();
        await followed(daemon, REMOTES);
        await startMeeting(daemon, folder);
        const ways = {
          direct: null,
          bare: await portOf(bare),
          relayed: join(folder, 'd/socket/audio.sock'),
          main: daemon.port,
        };
        const stream = (to: To) => streams.run({ to, streams: STREAMS, seconds: SECONDS });
        const rest = await rounds(ways, stream);
        log('at rest');
        const events = eventsToAppend(folder);
        const loaded = (read_every_ms: number) =>
          rounds(ways, (to) => underLoad(daemon, { folder, events, read_every_ms }, () => stream(to)));
        const usual = await loaded(SCRIPT_EVERY_MS);
        log('under a usual load');
        await daemon.loopDelay();
        const heavy = await loaded(HEAVY_EVERY_MS);
        log('under a heavy load');
        const loop = await daemon.loopFigure('under the heavy load');
        daemon.child.kill('SIGURG');
        const blocked = await rounds(ways, stream);
        daemon.child.kill('SIGURG');
        const all = [rest, usual, heavy, blocked].flatMap(({ relayed, main }) => [...relayed, ...main]);
        const lost = all.reduce((sum, { sent, came }) => sum + sent - came, 0);
        const times = p99(heavy.relayed) / p99(heavy.direct);
        return [
          figure('at rest', rest),
          figure('under a usual load: events indexed, boards open, all read each second', usual),
          judged(figure(`under a heavy load: all read every ${HEAVY_EVERY_MS} ms`, heavy), { most: 5 }),
          judged(shown('the same as a multiple of a direct write', times, ''), { most: 3 }),
          judged(shown('frames lost', lost, ''), { most: 0 }),
          figure('while the main thread is blocked for 20 of every 100 ms', blocked),
          loop,
        ];
      } finally {
        await streams.stop();
        await stopProgram(bare);
        await daemon.stop();
        await stopProgram(remotes);
        await endServer(daemon.tmux_socket);
      }
    }),
};

async function startMeeting(daemon: BenchDaemon, folder: string): Promise<void> {
  const { status, body } = await daemon.json('POST', '/api/v1/capture', {
    ...{ project_dir: folder, meeting: { mode: 'phone' }, store: join(folder, 's') },
  });
  const { meeting } = body as { meeting?: { state: string } };
  if (meeting?.state !== 'live') throw new Error(`no meeting (${status}): ${JSON.stringify(body)}`);
}

/** The listener: a port or the path of a Unix socket; null for none. */
type To = StreamsAsked['to'];
/**
 * Straight into the recorder's socket, through a relay that does nothing else, through the daemon's socket for audio, and
 * through its main thread.
 */
type Way = 'direct' | 'bare' | 'relayed' | 'main';
type Rounds = Record<Way, StreamsTold[]>;

/** All ways in turn, so that what else the machine does meets them alike. */
async function rounds(ways: Record<Way, To>, run: (to: To) => Promise<StreamsTold>): Promise<Rounds> {
  const told: Rounds = { direct: [], bare: [], relayed: [], main: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of ['direct', 'bare', 'relayed', 'main'] as const) told[way].push(await run(ways[way]));
  }
  return told;
}

/** The median of the p99 of each round, as one stall of the machine is no property of the way. */
const p99 = (told: StreamsTold[]) => median(told.map(({ ways_ms }) => percentile(ways_ms, 99)));

function figure(name: string, { direct, bare, relayed, main }: Rounds): Figure {
  const all = relayed.flatMap(({ ways_ms }) => ways_ms);
  const late = relayed.reduce((sum, one) => sum + one.late, 0);
  return {
    ...shown(`p99 ${name}`, p99(relayed), 'ms'),
    against: [
      { name: 'p50', value: percentile(all, 50), unit: 'ms' },
      { name: 'p99.9', value: percentile(all, 99.9), unit: 'ms' },
      { name: 'p99 of a direct write', value: p99(direct), unit: 'ms' },
      { name: 'p99 of a bare relay', value: p99(bare), unit: 'ms' },
      { name: 'p99 through the main thread', value: p99(main), unit: 'ms' },
      { name: 'frames that left late', value: late, unit: '' },
    ],
  };
}

function eventsToAppend(folder: string): Buffer[] {
  const path = join(folder, 'events-to-append.jsonl');
  generateEvents(path);
  const all = Buffer.concat([readFileSync(`${path}.1`), readFileSync(path)]);
  const lines = Math.ceil(all.length / EVENT_PIECES);
  const pieces: Buffer[] = [];
  for (let from = 0; from < all.length; ) {
    const end = all.indexOf('\n', Math.min(all.length - 1, from + lines)) + 1 || all.length;
    pieces.push(all.subarray(from, end));
    from = end;
  }
  return pieces;
}

type Load = { folder: string; events: readonly Buffer[]; read_every_ms: number };

/** Appends 128 MiB of events, has boards open and reads composites while `run` goes on. */
async function underLoad<T>(
  { port }: BenchDaemon,
  { folder, events, read_every_ms }: Load,
  run: () => Promise<T>,
): Promise<T> {
  let over = false;
  const append = async () => {
    for (const piece of events) {
      if (over) return;
      appendFileSync(join(folder, 'd/events.jsonl'), piece);
      await wait((SECONDS * 1_000) / EVENT_PIECES);
    }
  };
  const read = async () => {
    const connection = await openConnection(port);
    while (!over) {
      await connection.get(COMPOSITE);
      await connection.get('/api/v1/fibers');
      await wait(read_every_ms);
    }
    connection.close();
  };
  const boards = Array.from({ length: BOARDS }, () => followAsBoard(port));
  const work = Promise.all([append(), read()]);
  const told = await run();
  over = true;
  await work;
  for (const board of boards) board.stop();
  return told;
}

/** The program with the phones and the recorder's socket. */
class Streams {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterableIterator<string>;

  constructor(socket: string) {
    const path = fileURLToPath(new URL('../servers/audio-streams.ts', import.meta.url));
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, socket], {
      env: callerEnvironment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithUs(this.#child);
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async ready(): Promise<void> {
    await this.#lines.next();
  }

  async run(asked: StreamsAsked): Promise<StreamsTold> {
    this.#child.stdin!.write(`${JSON.stringify(asked)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the program with the streams ended');
    return JSON.parse(value);
  }

  stop(): Promise<void> {
    return stopProgram(this.#child);
  }
}
