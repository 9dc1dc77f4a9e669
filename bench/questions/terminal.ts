import { join } from 'node:path';
import { WebSocket } from 'ws';
import { BENCH_HOST, type BenchDaemon, startDaemon, wait, writeAgent } from '../daemon.ts';
import { type Bench, type Figure, judged, shown } from '../frame.ts';
import { cpuSeconds } from '../process-cost.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';
import { endServer, tmux } from '../tmux.ts';

const FIBERS = 2_000;
const BOARDS = 50;
const VIEWERS = 10;
const SETTLE_MS = 20_000;
const WATCHED_MS = 20_000;

/** Twenty coloured lines a second, as a program that prints what it does. */
const BUSY = `i=0
while :; do
  i=$((i+1))
  printf '\\033[3%dm%6d\\033[0m \\033[1mfile-%d.ts\\033[0m  \\033[2mchecked, %d of 100000\\033[0m\\n' $((i%8)) $i $i $i
  sleep 0.05
done`;

export const bench: Bench = {
  name: 'terminal',
  question:
    'what does it cost the daemon that somebody looks at the screen of a busy worker, beside 50 open boards?',
  run: (log) =>
    withScratch(async (folder) => {
      writeAgent(folder, BUSY);
      const { root } = generateStore(join(folder, 's'), {
        ...{ fibers: FIBERS, host: 'elsewhere', project_dir: folder },
      });
      const own = join(folder, 'o');
      generateStore(own, {
        fibers: 1,
        host: BENCH_HOST,
        project_dir: folder,
        served: 1,
        seed: 11,
        first: 50_000,
      });
      const start = () => startDaemon({ folder, stores: [root, own], measured: false });
      let daemon = await start();
      try {
        await daemon.fresh();
        const [fiber = ''] = await daemon.ownFibers();
        const session = await daemon.dispatch(fiber);
        const server = Number(await tmux(daemon.tmux_socket, ['display-message', '-p', '#{pid}']));
        const cheap = await measure(daemon, { session, server, by: 'the connection to tmux', most: 2, log });
        await daemon.stop();
        daemon = await start();
        await daemon.fresh();
        // A tmux before 3.7 is asked by runs of its program then; see src/mux/control-safety.ts.
        const costly = await measure(daemon, { session, server, by: 'a new daemon', most: 2, log });
        return [...cheap, ...costly];
      } finally {
        await daemon.stop();
        await endServer(daemon.tmux_socket);
      }
    }),
};

type Measured = {
  session: string;
  /** Process id of the tmux server. */
  server: number;
  by: string;
  most: number;
  log(line: string): void;
};

async function measure(daemon: BenchDaemon, { session, server, by, most, log }: Measured): Promise<Figure[]> {
  const clients: WebSocket[] = [];
  let bytes = 0;
  let messages = 0;
  const connect = async (path: string) => {
    const client = new WebSocket(`ws://127.0.0.1:${daemon.port}/api/v1/${path}`);
    clients.push(client);
    await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
    client.on('message', (data: Buffer) => {
      messages += 1;
      bytes += data.length;
    });
  };
  const share = async () => {
    const before = [cpuSeconds(daemon.pid), cpuSeconds(server)] as const;
    const from = performance.now();
    await wait(WATCHED_MS);
    const seconds = (performance.now() - from) / 1_000;
    const of = (pid: number, spent: number) => (100 * (cpuSeconds(pid) - spent)) / seconds;
    return { daemon: of(daemon.pid, before[0]), tmux: of(server, before[1]) };
  };
  try {
    for (let board = 0; board < BOARDS; board += 1) await connect('live');
    await wait(SETTLE_MS);
    const none = await share();
    await connect(`terminal?session=${session}`);
    await wait(1_000);
    [bytes, messages] = [0, 0];
    const one = await share();
    const each = bytes / Math.max(1, messages);
    const rate = messages / (WATCHED_MS / 1_000);
    for (let viewer = 1; viewer < VIEWERS; viewer += 1) await connect(`terminal?session=${session}`);
    await wait(1_000);
    const many = await share();
    log(`by ${by}: ${none.daemon.toFixed(1)} %, ${one.daemon.toFixed(1)} %, ${many.daemon.toFixed(1)} %`);
    const against = (value: { daemon: number; tmux: number }) => [
      { name: 'the daemon in all', value: value.daemon, unit: '%' },
      { name: 'without a viewer', value: none.daemon, unit: '%' },
      { name: 'tmux more than without', value: value.tmux - none.tmux, unit: '%' },
    ];
    return [
      judged(
        { name: `one viewer, ${by}`, value: one.daemon - none.daemon, unit: '%', against: against(one) },
        { most },
      ),
      judged(
        {
          name: `each of ${VIEWERS} viewers, ${by}`,
          value: (many.daemon - none.daemon) / VIEWERS,
          unit: '%',
          against: against(many),
        },
        { most },
      ),
      shown(`messages a second to one viewer, ${by}`, rate, ''),
      shown(`bytes of a message, ${by}`, each, 'B'),
    ];
  } finally {
    for (const client of clients) client.terminate();
  }
}
