import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import { messageWay } from '../../src/harness/pi/message-socket.ts';
import { type RealAppServer, startRealAppServer } from '../../test/harness-real/app-server.ts';
import type { RealDaemon } from '../../test/harness-real/real-daemon.ts';
import buildForTests from '../../test/kit/built-package.ts';
import { until } from '../../test/kit/until.ts';
import { wait } from '../daemon.ts';
import { type Bench, type Figure, judged, median, percentile } from '../frame.ts';

const ROUNDS = 6;
const SLACK_MS = 50;
/** The program is at rest again, and the terminal takes the next text at once. */
const REST_MS = 2_500;

/** An idle worker, and the bare way into its session. */
type Idle = {
  daemon: RealDaemon;
  name: string;
  address: string;
  transcript: string;
  bare(text: string): Promise<unknown>;
  stop(): Promise<void>;
};

export const bench: Bench = {
  name: 'message-delivery',
  question: 'how long from POST /messages to an idle worker until its transcript has the text?',
  async run(log) {
    const bin = new URL('../../.cache/harness/bin/', import.meta.url);
    if (!HARNESS_NAMES.every((name) => existsSync(new URL(name, bin)))) {
      log('the agent programs are not installed; run: node test/harness-real/install.mjs');
      return [];
    }
    const remove = buildForTests();
    try {
      const figures: Figure[] = [];
      for (const start of [...HARNESS_NAMES.map((name) => () => startTerminal(name)), startApp])
        figures.push(await measure(await start()));
      return figures;
    } finally {
      remove?.();
    }
  },
};

async function measure({ daemon, name, address, transcript, bare, stop }: Idle): Promise<Figure> {
  try {
    const ours: number[] = [];
    const floor: number[] = [];
    await wait(REST_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = `b-${round}`;
      floor.push(
        await untilShown(transcript, id, () => bare(`[message ${id} from ada]\nPlease look.\n[end]`)),
      );
      await wait(REST_MS);
      const message = { address, from: 'ada', text: 'Please look.', message_id: `m-${round}` };
      ours.push(await untilShown(transcript, `m-${round}`, () => daemon.post('/messages', message)));
      await wait(REST_MS);
    }
    const most = Math.round((1.5 * median(floor) + SLACK_MS) * 10) / 10;
    const against = [
      { name: 'p90', value: percentile(ours, 90), unit: 'ms' },
      { name: 'the bare way', value: median(floor), unit: 'ms' },
      { name: 'its p90', value: percentile(floor, 90), unit: 'ms' },
    ];
    return judged({ name, value: median(ours), unit: 'ms', against }, { most });
  } finally {
    await stop();
  }
}

/** Milliseconds until the transcript has the message, which is given meanwhile. */
async function untilShown(path: string, id: string, give: () => Promise<unknown>): Promise<number> {
  const marker = `[message ${id} `;
  const { size } = statSync(path);
  const from = performance.now();
  const giving = give();
  while (!textAfter(path, size).includes(marker)) {
    if (performance.now() - from > 30_000)
      throw new Error(`the message ${id} did not arrive: ${JSON.stringify(await giving)}`);
    await wait(1);
  }
  const took = performance.now() - from;
  await giving;
  return took;
}

function textAfter(path: string, offset: number): string {
  const bytes = Buffer.alloc(statSync(path).size - offset);
  const file = openSync(path, 'r');
  readSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
  return bytes.toString();
}

async function startTerminal(name: HarnessName): Promise<Idle> {
  const { startRealDaemon } = await import('../../test/harness-real/real-daemon.ts');
  const { listening } = await import('../../test/harness-real/listening-worker.ts');
  const daemon = await startRealDaemon(name);
  await daemon.svc('setup', name);
  const { session, mux } = await listening(daemon);
  const transcript = await daemon.transcriptPathOf(session);
  const id = (await daemon.tmux('display-message', '-p', '-t', `=${mux}:`, '#{session_id}')).trim();
  const [file, enter] = [join(daemon.data_dir, 'bench-text'), join(daemon.data_dir, 'bench-enter')];
  writeFileSync(enter, '\r');
  const paste = (text: string) => {
    writeFileSync(file, text);
    const put = (path: string, option: string[]) => [
      ...['load-buffer', '-b', 'bench', path, ';'],
      ...['paste-buffer', ...option, '-r', '-d', '-b', 'bench', '-t', id],
    ];
    return daemon.tmux(...put(file, ['-p']), ';', ...put(enter, []));
  };
  const folder = join(daemon.data_dir, 'session-sockets');
  const hand = async (text: string) => {
    const way = await messageWay.open({ folder, session, terminal: id });
    if (way === null) throw new Error('the extension does not answer');
    await way.give(text);
    way.close();
  };
  return {
    ...{ daemon, transcript },
    name: `${name}, ${name === 'pi' ? 'by its extension' : 'by a paste'}`,
    address: `svc://test-host/${name}/${session}`,
    bare: name === 'pi' ? hand : paste,
    stop: () => daemon.stop(),
  };
}

async function startApp(): Promise<Idle> {
  const { startRealDaemon } = await import('../../test/harness-real/real-daemon.ts');
  let server: RealAppServer | undefined;
  const daemon = await startRealDaemon('codex', {
    async prepare({ home, root, env }) {
      server = await startRealAppServer(root, env);
      return { SVC_APP_SERVER: server.setting, HOME: home };
    },
  });
  daemon.stub.script({ match: 'Fiber: listens', steps: [{ text: 'Ready.' }] });
  await daemon.release();
  await daemon.add('listens');
  const { path } = await daemon.rowWhere('listens', () => true);
  const svc = `svc:\n  kind: oneshot\n  host: test-host\n  surface: app\n  agent: codex\n  project_dir: ${daemon.project_dir}`;
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\n---\n/, `\n${svc}\n---\n`));
  await daemon.rowWhere('listens', (row) => row.svc?.surface === 'app');
  const { body } = await daemon.post('/dispatch', { fiber_id: 'listens' });
  const threadId = (body as { thread_id: string }).thread_id;
  await daemon.rowWhere('listens', ({ runtime }) => runtime?.phase === 'waiting');
  const transcript = await daemon.transcriptPathOf(threadId);
  await until('the conversation is idle', () => readFileSync(transcript, 'utf8').includes('task_complete'));
  return {
    ...{ daemon, transcript },
    name: 'codex, by the app server',
    address: `svc://test-host/codex/${threadId}`,
    bare: (text) =>
      server!.ask('turn/start', {
        ...{ threadId, clientUserMessageId: randomUUID() },
        input: [{ type: 'text', text, text_elements: [] }],
      }),
    async stop() {
      await server?.stop();
      await daemon.stop();
    },
  };
}
