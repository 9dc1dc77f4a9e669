import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { State } from '../../src/contract/http/state.ts';
import { initStore, type Store } from '../../src/fibers/store.ts';
import { readProcessStart } from '../../src/platform/file-lock.ts';
import { runProcess } from '../../src/platform/process.ts';
import {
  descendantsIn,
  judgeLife,
  lookUpProcess,
  type ProcessRow,
  processTable,
} from '../../src/platform/process-facts.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { programOf } from '../kit/built-package.ts';
import { loopbackEnvironment } from '../kit/caller-environment.ts';
import { findProgram } from '../kit/find-program.ts';
import { launchesOf } from '../kit/launches.ts';
import { processesMarked, signal } from '../kit/processes.ts';
import { UNKNOWN_KEYS } from './unknown-keys.ts';

export const HOST = 'fault-host';
const LEAST_SPACE = 256 * 1024 * 1024;
/** What waits for a disk that does not answer ends late. */
const END_MS = 60_000;
const LAUNCHER = programOf('launcher.mjs');
const AGENT = new URL('fast-agent.mjs', import.meta.url).pathname;
const COMPOSER = new URL('composer-agent.mjs', import.meta.url).pathname;
const TMUX = findProgram('tmux', process.env.PATH ?? '') ?? '/usr/bin/tmux';

export type Reply<T = unknown> = { status: number; json: T };

/** One daemon process: the node process itself, so that a kill hits what it is meant for. */
export class Daemon {
  readonly child: ChildProcess;
  readonly spawned_at = Date.now();
  readonly #bed: Bed;
  readonly #wrap: readonly string[];
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  #address: string | null = null;

  constructor(bed: Bed, child: ChildProcess, wrap: readonly string[]) {
    this.#bed = bed;
    this.#wrap = wrap;
    this.child = child;
    this.ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
  }

  get pid(): number {
    return this.child.pid!;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits until it answers that it is ready. */
  async ready(most_ms = 120_000): Promise<this> {
    await until(
      'a ready daemon',
      async () => {
        if (!this.alive) throw new Error(`the daemon ended while it started:\n${this.#bed.log()}`);
        const version = await this.get<{ ready: boolean; pid: number }>('/version').catch(() => null);
        return version?.json.ready === true && version.json.pid === this.pid;
      },
      most_ms,
    );
    return this;
  }

  async address(): Promise<string> {
    this.#address ??= await until('daemon.json', () => this.#bed.announced(this.pid), 120_000);
    return this.#address;
  }

  get<T = unknown>(path: string, limit_ms = 10_000): Promise<Reply<T>> {
    return this.#ask<T>(path, null, limit_ms);
  }

  post<T = unknown>(path: string, body: unknown, limit_ms = 30_000): Promise<Reply<T>> {
    return this.#ask<T>(path, JSON.stringify(body), limit_ms);
  }

  async state(): Promise<State> {
    const { status, json } = await this.get<State>('/state');
    if (status !== 200) throw new Error(`GET /state answered ${status}: ${JSON.stringify(json)}`);
    return json;
  }

  /** Waits for a state of affairs that `GET /state` tells. */
  async stateWhen(what: string, holds: (state: State) => boolean, most_ms = 60_000): Promise<State> {
    let last: State | null = null;
    try {
      return await until(
        what,
        async () => {
          last = await this.state();
          return holds(last) ? last : null;
        },
        most_ms,
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}; the state is ${JSON.stringify(last)}`);
    }
  }

  kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: string | null }> {
    this.child.kill(signal);
    return this.ended;
  }

  async #ask<T>(path: string, body: string | null, limit_ms: number): Promise<Reply<T>> {
    const url = `http://${await this.address()}/api/v1${path}`;
    const headers = { 'content-type': 'application/json' };
    if (this.#wrap.length > 0) return this.#askWrapped<T>(url, body, limit_ms);
    const response = await fetch(url, {
      ...(body === null ? {} : { method: 'POST', headers, body }),
      signal: AbortSignal.timeout(limit_ms),
    });
    return { status: response.status, json: (await response.json()) as T };
  }

  /** Asks as the user whom the wrapping program makes of us: the daemon answers no other. */
  async #askWrapped<T>(url: string, body: string | null, limit_ms: number): Promise<Reply<T>> {
    const [file = '', ...before] = this.#wrap;
    const post = body === null ? [] : ['-H', 'content-type: application/json', '--data-binary', '@-'];
    const answer = await runProcess({
      file,
      args: [...before, 'curl', '-sS', '-w', '\n%{http_code}', ...post, url],
      env: this.#bed.env,
      cwd: this.#bed.root,
      timeout_ms: limit_ms,
      max_output_bytes: 64 * 1024 * 1024,
      ...(body === null ? {} : { input: body }),
    });
    if (answer.kind !== 'exited' || answer.code !== 0)
      throw new Error(`curl failed: ${JSON.stringify(answer)}`);
    const end = answer.stdout.lastIndexOf('\n');
    return {
      status: Number(answer.stdout.slice(end + 1)),
      json: JSON.parse(answer.stdout.slice(0, end)) as T,
    };
  }
}

export type BedOptions = {
  /** Names of the stores; default one, `store`. */
  stores?: readonly string[];
  /** Least and most milliseconds that an agent works. */
  pace?: readonly [number, number];
  env?: Record<string, string>;
  /** Folder to build in instead of a fresh temporary one. */
  root?: string;
};

/** Everything of one fault test below one folder: stores, data dir, private tmux server, agents, daemons. */
export class Bed {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stores: Store[];
  readonly witness: string;
  readonly socket: string;
  readonly #log: string;
  readonly #daemons: Daemon[] = [];

  constructor(options: BedOptions = {}) {
    this.root = options.root ?? realpathSync(mkdtempSync(join(quickFolder(), 'svc-f-')));
    this.witness = join(this.root, 'witness.jsonl');
    this.#log = join(this.root, 'daemon.log');
    this.socket = join(this.root, 's');
    for (const name of ['data', 'config', 'home', 'project', 'agent'])
      mkdirSync(join(this.root, name), { recursive: true, mode: 0o700 });
    writeFileSync(this.witness, '');
    const names = options.stores ?? ['store'];
    this.stores = names.map((name) => {
      mkdirSync(join(this.root, name), { recursive: true });
      return initStore(join(this.root, name));
    });
    this.env = {
      ...loopbackEnvironment(),
      HOME: join(this.root, 'home'),
      SVC_HOST: HOST,
      SVC_DATA_DIR: join(this.root, 'data'),
      SVC_CONFIG_DIR: join(this.root, 'config'),
      SVC_RUNTIME_DIR: join(this.root, 'runtime'),
      SVC_STORES: this.stores.map((store) => store.root).join(','),
      SVC_TMUX_SOCKET: this.socket,
      SVC_LISTEN: '127.0.0.1:0',
      SVC_POLL_INTERVAL_MS: '500',
      // Many tests share this machine.
      SVC_BUSY_LOAD: '0',
      ...options.env,
    };
    this.#writeAgents(options.pace ?? [100, 300]);
  }

  get store(): Store {
    return this.stores[0]!;
  }

  /** Makes a fiber that a worker can run; `armed` ones are active. Answers its uid. */
  async fiber(
    slug: string,
    options: {
      armed?: boolean;
      store?: Store;
      body?: string;
      project_dir?: string;
      agent?: 'fast' | 'composer';
    } = {},
  ): Promise<string> {
    const store = options.store ?? this.store;
    const made = await store.create({
      name: `Fiber ${slug}`,
      slug,
      status: options.armed === false ? 'open' : 'active',
      body: options.body ?? 'Work.\n\nSessions: 0\n',
      svc: {
        kind: 'oneshot',
        host: HOST,
        project_dir: options.project_dir ?? join(this.root, 'project'),
        agent: options.agent ?? 'fast',
      },
    });
    const text = readFileSync(made.path, 'utf8').replace('\n---\n', `\n${UNKNOWN_KEYS}---\n`);
    writeFileSync(made.path, text);
    return made.uid ?? '';
  }

  /**
   * Starts a daemon on the bed's folders; not waited for. `wrap` is a program that runs it, and `ask_by` one that asks
   * it, where the daemon answers no other.
   */
  daemon(
    env: Record<string, string> = {},
    wrap: readonly string[] = [],
    ask_by: readonly string[] = wrap,
  ): Daemon {
    const log = openSync(this.#log, 'a', 0o600);
    const [file = '', ...args] = [...wrap, process.execPath, LAUNCHER, 'daemon', 'run'];
    const child = spawn(file, args, {
      env: { ...this.env, ...env },
      cwd: this.root,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const daemon = new Daemon(this, child, ask_by);
    this.#daemons.push(daemon);
    return daemon;
  }

  /** Runs `svc` to its end. */
  async svc(args: readonly string[], options: { input?: string; timeout_ms?: number } = {}) {
    return runProcess({
      file: process.execPath,
      args: [LAUNCHER, ...args],
      env: this.env,
      cwd: this.root,
      timeout_ms: options.timeout_ms ?? 120_000,
      max_output_bytes: 4 * 1024 * 1024,
      ...(options.input === undefined ? {} : { input: options.input }),
    });
  }

  /** Runs tmux on the private server; what it printed. */
  async tmux(...args: string[]): Promise<string> {
    const env = { ...this.env, TMUX: undefined, TMUX_PANE: undefined };
    const answer = await runProcess({
      file: TMUX,
      args: ['-u', '-N', '-S', this.socket, ...args],
      env,
      timeout_ms: 10_000,
      max_output_bytes: 4 * 1024 * 1024,
    });
    return answer.kind === 'exited' ? answer.stdout.replace(/\n$/, '') : '';
  }

  /** Address of the daemon that has announced itself under `pid`. */
  announced(pid: number): string | null {
    try {
      const file = JSON.parse(readFileSync(join(this.root, 'data', 'daemon.json'), 'utf8'));
      return file.pid === pid ? file.listen.find((entry: string) => entry.startsWith('127.')) : null;
    } catch {
      return null;
    }
  }

  /** What the agents told so far. */
  told(): Witness[] {
    const lines = readFileSync(this.witness, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Witness);
  }

  /** Launch id of the only launch of a fiber. */
  launchOf(id: string): string | undefined {
    return launchesOf(join(this.root, 'data'), id).at(-1)?.launch_id;
  }

  /** Starts of agents whose processes live now. */
  living(): Witness[] {
    return this.told().filter((one) => one.event === 'start' && readProcessStart(one.pid) === one.start_time);
  }

  log(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Ends everything that was started here. */
  async end(): Promise<void> {
    for (const daemon of this.#daemons) if (daemon.alive) await daemon.kill('SIGKILL');
    const rows: ProcessRow[] = [];
    // A daemon that was killed leaves the program that it was just starting, which may become a tmux server.
    const left = () =>
      processesMarked(this.root).filter(
        ({ command }) => command.includes(LAUNCHER) || command.includes(` -S ${this.socket} `),
      );
    const gone = async () => {
      const panes = await this.tmux('list-panes', '-a', '-F', '#{session_id} #{pane_pid}');
      for (const [, id = '', pid] of panes.matchAll(/^(\$\d+) (\d+)$/gm)) {
        rows.push(...descendantsIn(processTable() ?? [], Number(pid)));
        await this.tmux('kill-session', '-t', id);
      }
      // tmux 3.3 may wait for ever for the control client of a daemon that was killed, also when told to end.
      if (panes === '') for (const row of left()) signal(row, 'SIGKILL');
      return left().length === 0;
    };
    await until('the end of the daemons and their tmux server', gone, END_MS);
    await until('the end of all workers', () =>
      rows.every((row) => judgeLife(row, lookUpProcess(row.pid)) === 'gone'),
    );
    await until('the end of all agents', () => this.living().length === 0);
  }

  /** The same, and removes the folder. */
  async dispose(): Promise<void> {
    await this.end();
    for (let round = 0; ; round += 1) {
      try {
        rmSync(this.root, { recursive: true, force: true });
        return;
      } catch (error) {
        if (round >= 20) throw error;
        await delay(100);
      }
    }
  }

  #writeAgents([least, most]: readonly [number, number]): void {
    const common = {
      ...{ harness: 'claude', cli: process.execPath, effort_levels: [] },
      env: { CLAUDE_CONFIG_DIR: join(this.root, 'agent') },
    };
    const agents = [
      { id: 'fast', args: [AGENT, this.witness, String(least), String(most)], default: true, ...common },
      // Its standard input is the terminal.
      { id: 'composer', args: [COMPOSER, this.witness], prompt: 'argument', ...common },
    ];
    const path = join(this.root, 'config', 'agents.json');
    writeFileSync(path, JSON.stringify({ version: 1, builtins: 'restrict', agents }));
    chmodSync(path, 0o600);
  }
}

/** A process that is killed loses nothing of what the kernel has, so memory does, and no other disk user disturbs. */
function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > LEAST_SPACE ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** One line of the witness file, written by an agent. Times are milliseconds. */
export type Witness = {
  event: 'start' | 'overlap' | 'edited' | 'failed' | 'end';
  uid: string;
  launch: string;
  pid: number;
  start_time: string;
  at: number;
  count?: number;
  verb?: string;
  code?: number | string;
  said?: string;
  other?: string;
};
