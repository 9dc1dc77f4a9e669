import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callerEnvironment } from '../test/kit/caller-environment.ts';
import { type Form, launcherOf } from './built-package.ts';
import { endWithUs, portOf, startProgram, stopProgram } from './child.ts';
import { openConnection } from './connection.ts';
import { type Figure, judged } from './frame.ts';
import type { LoopDelay } from './loop-delay.ts';
import { endServerWithUs } from './tmux.ts';

export const BENCH_HOST = 'bench-host';

export type DaemonOptions = {
  /** A short folder of this daemon's own; its data, settings and sockets go there. */
  folder: string;
  stores: string[];
  form?: Form;
  env?: Record<string, string>;
  /** Programs that are loaded into it. */
  imports?: URL[];
  /** False: nothing is loaded into the daemon but itself; measuring its main thread wakes it every millisecond. */
  measured?: boolean;
};

/** A real daemon process with nothing of the user's. */
export class BenchDaemon {
  readonly child: ChildProcess;
  readonly port: number;
  readonly tmux_socket: string;
  /** Milliseconds from the spawn to `ready` in `GET /version`. */
  readonly ready_ms: number;
  readonly started: number;
  #loop_file: string;
  #idle: ChildProcess | null;

  constructor(options: {
    child: ChildProcess;
    port: number;
    tmux_socket: string;
    loop_file: string;
    idle: ChildProcess | null;
    started: number;
    ready_ms: number;
  }) {
    this.child = options.child;
    this.port = options.port;
    this.tmux_socket = options.tmux_socket;
    this.#loop_file = options.loop_file;
    this.#idle = options.idle;
    this.started = options.started;
    this.ready_ms = options.ready_ms;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async json(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Waits until every store is listed; answers milliseconds since the spawn. */
  async fresh(): Promise<number> {
    const connection = await openConnection(this.port);
    try {
      for (;;) {
        // Of the fibers, this variant has only those of this host, which the benches keep few.
        const answer = await connection.get('/api/v1/fibers?svc=true');
        if (answer.status === 200 && answer.body.includes('"state":"fresh"'))
          return performance.now() - this.started;
        await wait(4);
      }
    } finally {
      connection.close();
    }
  }

  /** Ids of the fibers of this host. */
  async ownFibers(): Promise<string[]> {
    const { body } = await this.json('GET', '/api/v1/fibers?svc=true');
    return (body as { fibers: { id: string }[] }).fibers.map((fiber) => fiber.id);
  }

  /** Launches one fiber and answers the name of its session; throws when that is refused. */
  async dispatch(fiber_id: string): Promise<string> {
    const { status, body } = await this.json('POST', '/api/v1/dispatch', { fiber_id, force: true });
    const answer = body as { dispatched?: boolean; mux_session?: string };
    if (status !== 200 || answer.dispatched !== true)
      throw new Error(`${fiber_id} was not launched: ${JSON.stringify(body)}`);
    return answer.mux_session ?? '';
  }

  /** How late the main thread was since the last question, and a Node that did nothing meanwhile. */
  async loopDelay(): Promise<{ daemon: LoopDelay; idle: LoopDelay }> {
    if (this.#idle === null) throw new Error('the main thread of this daemon is not measured');
    const [daemon, idle] = await Promise.all([
      askDelay(this.pid, this.#loop_file),
      askDelay(this.#idle.pid ?? 0, `${this.#loop_file}.idle`),
    ]);
    return { daemon, idle };
  }

  /** The same as a figure with the target of every bench. */
  async loopFigure(during: string): Promise<Figure> {
    const { daemon: delay, idle } = await this.loopDelay();
    return judged(
      {
        name: `main-thread delay p99, ${during}`,
        value: delay.p99,
        unit: 'ms',
        against: [
          { name: 'p50', value: delay.p50, unit: 'ms' },
          { name: 'p99.9', value: delay.p999, unit: 'ms' },
          { name: 'longest', value: delay.max, unit: 'ms' },
          ...(delay.own_p99 === null
            ? []
            : [{ name: 'p99 but for waiting for a processor', value: delay.own_p99, unit: 'ms' }]),
          { name: 'p99 of an idle Node beside it', value: idle.p99, unit: 'ms' },
        ],
      },
      { most: 4 },
    );
  }

  async stop(): Promise<void> {
    await stopProgram(this.child);
    if (this.#idle !== null) await stopProgram(this.#idle);
  }
}

async function askDelay(pid: number, file: string): Promise<LoopDelay> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      await wait(5);
    }
  }
}

/** Starts a daemon and waits until it is ready. */
export async function startDaemon(options: DaemonOptions): Promise<BenchDaemon> {
  const { folder, measured = true } = options;
  const data = join(folder, 'd');
  const config = join(folder, 'c');
  mkdirSync(data, { recursive: true });
  mkdirSync(config, { recursive: true });
  const loop_file = join(folder, 'loop.json');
  const tmux_socket = join(folder, 't');
  endServerWithUs(tmux_socket);
  const log = join(folder, 'log');
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      ...(measured ? ['--import', new URL('loop-delay.ts', import.meta.url).href] : []),
      ...(options.imports ?? []).flatMap((program) => ['--import', program.href]),
      launcherOf(options.form ?? 'package'),
      'daemon',
      'run',
    ],
    {
      env: {
        ...callerEnvironment(),
        HOME: folder,
        XDG_CACHE_HOME: process.env.BENCH_CACHE ?? join(folder, 'k'),
        BENCH_LOOP_FILE: loop_file,
        SVC_LISTEN: '127.0.0.1:0',
        SVC_BUSY_LOAD: '0',
        SVC_HOST: BENCH_HOST,
        SVC_DATA_DIR: data,
        SVC_CONFIG_DIR: config,
        SVC_STORES: options.stores.join(','),
        SVC_TMUX_SOCKET: tmux_socket,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  endWithUs(child);
  let text = '';
  const listening = new Promise<number>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      writeFileSync(log, chunk, { flag: 'a' });
      if (text.length > 100_000) return;
      text += chunk;
      const found = /"listen(?:ing)?":\[?"127\.0\.0\.1:(\d+)"/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}: ${text}`)));
  });
  const port = await listening;
  const connection = await openConnection(port);
  for (;;) {
    const answer = await connection.get('/api/v1/version');
    if (answer.body.includes('"ready":true')) break;
    await wait(2);
  }
  connection.close();
  const ready_ms = performance.now() - started;
  const idle = measured
    ? startProgram('servers/idle.ts', [], { PATH: process.env.PATH, BENCH_LOOP_FILE: `${loop_file}.idle` })
    : null;
  if (idle !== null) await portOf(idle);
  const daemon = new BenchDaemon({ child, port, tmux_socket, loop_file, idle, started, ready_ms });
  // Loading modules before there is anything to serve keeps nobody waiting.
  if (measured) await daemon.loopDelay();
  return daemon;
}

/** Writes the transcript that tells the daemon that it came up, as Claude Code does. */
const AGENT = `#!/bin/sh
while [ "$#" -gt 0 ]; do
  [ "$1" = --session-id ] && session=$2
  shift
done
folder="$HOME/.claude/projects/$(pwd | sed 's/[^a-zA-Z0-9]/-/g')"
mkdir -p "$folder"
printf '{"type":"user"}\\n' >"$folder/$session.jsonl"
`;

/** Writes an agent registry in which the stores' agent is a program that stays and does nothing. */
export function writeStillAgent(folder: string): void {
  writeAgent(folder, 'exec sleep 600');
}

/** Writes an agent registry in which the stores' agent is a program that comes up and then runs this shell script. */
export function writeAgent(folder: string, script: string): void {
  mkdirSync(join(folder, 'c'), { recursive: true });
  const program = join(folder, 'agent');
  writeFileSync(program, `${AGENT}${script}\n`, { mode: 0o755 });
  const agent = { id: 'claude-sonnet', harness: 'claude', cli: program, args: [], default: true };
  writeFileSync(
    join(folder, 'c/agents.json'),
    JSON.stringify({ version: 1, builtins: 'restrict', agents: [agent] }),
  );
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
