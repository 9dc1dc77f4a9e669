import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Dispatched } from '../../src/contract/http/dispatch.ts';
import type { State } from '../../src/contract/http/state.ts';
import type { Version } from '../../src/contract/http/version.ts';
import type { DaemonFile } from '../../src/contract/operator-files.ts';
import { type Answer, createHttp, type Http, type Json } from './http.ts';
import { type LaunchOnDisk, launchesOf } from './launches.ts';
import { isRunning, processOf } from './processes.ts';
import { type Ran, TestHome } from './test-home.ts';
import { until } from './until.ts';

/** A daemon's start loads six threads, which on a busy machine takes its time. */
const START_MS = 60_000;
vi.setConfig({ testTimeout: 2 * START_MS, hookTimeout: 2 * START_MS });

export type TestDaemonOptions = {
  /** Settings over those of `TestHome`; an undefined one is left unset. */
  settings?: Record<string, string | undefined>;
  /** Writes documents and files before the daemon starts. */
  prepare?(home: TestHome): void | Promise<void>;
  /** Whether to release the boot quarantine once the daemon is ready; true unless told. */
  release?: boolean;
  /**
   * Whether a daemon has started workers from this data folder before, so that this one holds what waits; by default where
   * nothing is released.
   */
  ran_before?: boolean;
  /** A program and its arguments that the daemon is run by. */
  under?(home: TestHome): readonly string[];
  /** Options of Node itself. */
  node?: readonly string[];
  /** `booting` answers as soon as the listener does; `ready` unless told. */
  until?: 'booting' | 'ready';
};

/** Starts the real daemon in a process of its own, in a home of its own. */
export async function startTestDaemon(options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const home = new TestHome(options.settings);
  try {
    await options.prepare?.(home);
    if (options.ran_before ?? options.release === false)
      mkdirSync(join(home.data, 'runs'), { recursive: true, mode: 0o700 });
    const daemon = new TestDaemon(home, options);
    await daemon.start();
    return daemon;
  } catch (error) {
    await home.dispose().catch(() => undefined);
    throw error;
  }
}

/** A real daemon that a test started, stops, kills and starts again. */
export class TestDaemon {
  readonly home: TestHome;
  readonly http: Http;
  readonly #options: TestDaemonOptions;
  #child: ChildProcess | null = null;
  #exited: Promise<Ran> | null = null;
  #file: DaemonFile | null = null;
  /** What the daemons of this home have printed so far. */
  log = '';

  constructor(home: TestHome, options: TestDaemonOptions = {}) {
    this.home = home;
    this.#options = options;
    this.http = createHttp(() => this.address);
  }

  /** `host:port` or `unix:/path`. */
  get address(): string {
    const address = this.#file?.listen[0];
    if (address === undefined) throw new Error('the daemon has not been started');
    return address;
  }

  get pid(): number {
    if (this.#file === null) throw new Error('the daemon has not been started');
    return this.#file.pid;
  }

  /** Resident memory (RSS) in MiB; Linux only. */
  get resident_mib(): number {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'));
    return Number(line![1]) / 1024;
  }

  /** Starts the daemon; `release` as in `TestDaemonOptions`. */
  async start({ release = this.#options.release } = {}): Promise<void> {
    const child = this.spawn();
    this.#file = await until(
      'the announcement of the daemon',
      async () => {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(this.#failure());
        return this.#announced();
      },
      START_MS,
    );
    if (this.#options.until === 'booting') return;
    await this.ready();
    if (release !== false) await this.release();
  }

  /** Spawns the daemon and waits for nothing; `ended` tells how it went. */
  spawn(): ChildProcess {
    const { under, node } = this.#options;
    const [file = '', ...args] = [...(under?.(this.home) ?? []), ...this.home.daemonArgv(node)];
    const child = spawn(file, args, { env: this.home.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
      this.log += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
      this.log += text;
    });
    this.#child = child;
    this.#exited = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, by) => resolve({ code, signal: by, stdout, stderr }));
    });
    return child;
  }

  /** Resolves when the process of the daemon has ended. */
  ended(): Promise<Ran> {
    if (this.#exited === null) throw new Error('the daemon has not been started');
    return this.#exited;
  }

  async ready(): Promise<void> {
    await until(
      'the daemon being ready',
      async () => {
        const { body } = await this.http.get<Version>('/version');
        if (this.#child?.exitCode !== null) throw new Error(this.#failure());
        return body.ready;
      },
      START_MS,
    );
  }

  /** Lets the poller launch what was there before the start. */
  async release(): Promise<void> {
    await this.http.post('/quarantine/release', {});
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ran> {
    process.kill(this.pid, signal);
    return this.#gone();
  }

  kill9(): Promise<Ran> {
    return this.stop('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Stops the daemon where it still runs, ends its workers, and fails when a process is left. */
  async dispose(): Promise<void> {
    if (this.#isRunning()) process.kill(this.pid, 'SIGTERM');
    if (this.#options.under === undefined) await this.#exited;
    await this.home.dispose();
  }

  async fibers(query = ''): Promise<FiberRow[]> {
    const { body } = await this.http.get<{ fibers: FiberRow[] }>(`/fibers${query}`);
    return body.fibers ?? [];
  }

  async row(id: string): Promise<FiberRow | undefined> {
    return (await this.fibers()).find((row) => row.id === id);
  }

  /** The row of a fiber once it satisfies `condition`. */
  rowWhen(
    id: string,
    what: string,
    condition: (row: FiberRow) => boolean,
    most_ms?: number,
  ): Promise<FiberRow> {
    const look = async () => {
      const row = await this.row(id);
      return row !== undefined && condition(row) ? row : null;
    };
    return until(`${id}: ${what}`, look, most_ms);
  }

  /** The row once its worker's start is confirmed. */
  async running(id: string): Promise<FiberRow & { runtime: NonNullable<FiberRow['runtime']> }> {
    const row = await this.rowWhen(id, 'running', (one) => one.runtime?.state === 'running');
    return { ...row, runtime: row.runtime! };
  }

  async state(): Promise<State> {
    return (await this.http.get<State>('/state')).body;
  }

  async version(): Promise<Version> {
    return (await this.http.get<Version>('/version')).body;
  }

  dispatch(request: Json): Promise<Answer<Dispatched & Json>> {
    return this.http.post('/dispatch', request);
  }

  kill(fiber_id: string): Promise<Answer> {
    return this.http.post('/kill', { fiber_id });
  }

  /** Waits for the end of two further ticks: what the poller was going to do of itself, it has done. */
  async ticks(count = 2): Promise<void> {
    const from = (await this.state()).poll_health.ticks;
    await until('further ticks', async () => (await this.state()).poll_health.ticks >= from + count);
  }

  /** The agent process of a fiber's only launch, as its run directory names it. */
  async agentPid(id: string): Promise<number> {
    const { launch_id } = this.lastLaunch(id);
    const path = join(this.home.data, 'runs', launch_id, 'agent.pid');
    return until(`the agent of ${id}`, () => {
      try {
        return (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid;
      } catch {
        return null;
      }
    });
  }

  /** The newest launch of a fiber, and what it was told. */
  lastLaunch(id: string): LaunchOnDisk {
    const last = launchesOf(this.home.data, id).at(-1);
    if (last === undefined) throw new Error(`${id} was never launched`);
    return last;
  }

  #isRunning(): boolean {
    try {
      return this.#file !== null && isRunning(processOf(this.#file.pid)) && this.#child?.exitCode === null;
    } catch {
      return false;
    }
  }

  async #gone(): Promise<Ran> {
    if (this.#options.under === undefined) return this.ended();
    await until('the end of the daemon', () => !this.#isRunning());
    return { code: null, signal: null, stdout: '', stderr: '' };
  }

  /** The daemon's own word on where it is; null until the process that was just started has said so. */
  #announced(): DaemonFile | null {
    try {
      const file = JSON.parse(readFileSync(join(this.home.data, 'daemon.json'), 'utf8')) as DaemonFile;
      return isRunning(processOf(file.pid)) ? file : null;
    } catch {
      return null;
    }
  }

  #failure(): string {
    return `the daemon ended at its start:\n${this.log.slice(-4_000)}`;
  }
}
