import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import type { State } from '../../src/contract/http/state.ts';
import type { SessionLine } from '../../src/contract/ledger.ts';
import type { DaemonFile } from '../../src/contract/operator-files.ts';
import type { RunManifest } from '../../src/dispatch/run-directory/run-records.ts';
import { programOf } from '../kit/built-package.ts';
import { type StubModel, startStubModel } from '../kit/stub-model/stub-model.ts';
import { commandOf, eventually, isAlive, processesWith } from './processes.ts';
import { BIN, cleanEnv } from './real-harness.ts';
import { writeScratchHome } from './scratch-home.ts';

const run = promisify(execFile);
const LAUNCHER = programOf('launcher.mjs');
const COMPILED = fileURLToPath(new URL('../../.cache/harness/compiled', import.meta.url));
/** Real programs on a busy machine: a wait that is longer than this has failed. */
export const WITHIN_MS = 120_000;

/** One launch of a fiber as its run directory tells it. */
export type LaunchOnDisk = RunManifest & { dir: string; prompt: string };

/** A real daemon with one agent program, a store, a tmux server, a home and a model of their own. */
export type RealDaemon = {
  project_dir: string;
  store: string;
  data_dir: string;
  stub: StubModel;
  /** Runs one `svc` command as a person would; rejects when it fails. */
  svc(...args: string[]): Promise<string>;
  /** The same for a command that may end with another code. */
  svcMayFail(...args: string[]): Promise<{ code: number; out: string }>;
  /** Makes a fiber that nothing starts. */
  add(name: string): Promise<void>;
  /** The answer of a read, whatever its status; `path` is below `/api/v1`. */
  get(path: string): Promise<Response>;
  /** Sends a request and gives what came back, whatever its status. */
  post(path: string, body: unknown): Promise<{ status: number; body: unknown }>;
  /** Makes and arms a fiber for the agent. */
  arm(name: string): Promise<void>;
  release(): Promise<void>;
  row(fiber: string): Promise<FiberRow>;
  /** Waits until the fiber’s row satisfies the test. */
  rowWhere(fiber: string, test: (row: FiberRow) => boolean): Promise<FiberRow>;
  state(): Promise<State>;
  /** Every launch so far, oldest first. */
  launches(): LaunchOnDisk[];
  /** Waits for the launch of this number, counted from 0. */
  launch(number: number): Promise<LaunchOnDisk>;
  agentPid(launch: LaunchOnDisk): number;
  /** Living processes of one run, each with its command line. */
  processesOf(launch: LaunchOnDisk): string[];
  /** Waits until nothing of a run lives any more; answers what still does. */
  goneProcessesOf(launch: LaunchOnDisk): Promise<string[]>;
  /** Waits until the run directory says why a run ended. */
  endOf(launch: LaunchOnDisk): Promise<string>;
  /** The text of a session’s transcript, found by its name alone in the agent program’s own folders. */
  transcriptOf(session_uuid: string): Promise<string>;
  /** Its path. */
  transcriptPathOf(session_uuid: string): Promise<string>;
  /** Every line of the sessions ledger; none before the first. */
  ledger(): SessionLine[];
  tmux(...args: string[]): Promise<string>;
  sessions(): Promise<string[]>;
  /** argv of a shell with this home’s settings, as a person has it who works here by hand. */
  personalShell(): string[];
  screen(session_name: string): Promise<string>;
  /** Ends the daemon with SIGKILL and starts another one on the same folders. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
};

export type DaemonOptions = {
  /** Changes the surroundings before anything starts; gives more of the daemon's environment. */
  prepare?: (scratch: {
    root: string;
    home: string;
    project_dir: string;
    env: Record<string, string>;
  }) => undefined | Promise<Record<string, string>>;
  settings?: Record<string, string>;
};

/** Agent id of the registry that each harness is tested with. */
export const AGENT_IDS: Record<HarnessName, string> = { claude: 'claude-sonnet', codex: 'codex', pi: 'pi' };

/** Below the home: where each program files its transcripts. */
const TRANSCRIPT_FOLDERS: Record<HarnessName, string> = {
  claude: '.claude/projects',
  codex: '.codex/sessions',
  pi: '.pi/agent/sessions',
};

/** Starts a daemon on folders of its own; `stop` ends everything it and its workers started. */
export async function startRealDaemon(name: HarnessName, options: DaemonOptions = {}): Promise<RealDaemon> {
  if (!existsSync(join(BIN, name))) {
    throw new Error(`${name} is not installed; run: node test/harness-real/install.mjs`);
  }
  const root = realpathSync(mkdtempSync(join(tmpdir(), `svc-round-${name}-`)));
  const [home, project_dir, store, data_dir, config_dir] = ['home', 'project', 'store', 'data', 'config'].map(
    (part) => {
      const folder = join(root, part);
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    },
  ) as [string, string, string, string, string];
  // A daemon that has run before holds what waits until it is released.
  mkdirSync(join(data_dir, 'runs'), { mode: 0o700 });
  const socket = join(root, 'tmux');
  const stub = await startStubModel();
  const own = writeScratchHome[name]({ home, project_dir, model_url: stub.url });
  const prepared = await options.prepare?.({ root, home, project_dir, env: { ...cleanEnv(home), ...own } });
  const env: Record<string, string> = {
    ...cleanEnv(home),
    ...own,
    SVC_HOST: 'test-host',
    SVC_LISTEN: '127.0.0.1:0',
    SVC_DATA_DIR: data_dir,
    SVC_CONFIG_DIR: config_dir,
    SVC_STORES: store,
    SVC_TMUX_SOCKET: socket,
    SVC_POLL_INTERVAL_MS: '1000',
    // Many tests share this machine.
    SVC_BUSY_LOAD: '0',
    // As wide as a terminal is by default.
    COLUMNS: '80',
    // The home is new each time; compiling everything again would be most of the test's time.
    NODE_COMPILE_CACHE: COMPILED,
    ...options.settings,
    ...prepared,
  };
  let child: ChildProcess | undefined;
  let base = '';

  const daemonFile = (): DaemonFile => JSON.parse(readFileSync(join(data_dir, 'daemon.json'), 'utf8'));
  const log = join(root, 'daemon.log');

  const call = async (path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${base}${path}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };

  const start = async () => {
    const output = openSync(log, 'a');
    child = spawn(process.execPath, [LAUNCHER, 'daemon', 'run'], {
      env,
      cwd: '/',
      stdio: ['ignore', output, output],
    });
    const began = child;
    const ready = await eventually(async () => {
      if (began.exitCode !== null) throw new Error(`the daemon ended:\n${readFileSync(log, 'utf8')}`);
      try {
        const file = daemonFile();
        if (!isAlive(file.pid) || file.pid !== began.pid) return null;
        base = `http://${file.listen[0]}/api/v1`;
        const version = (await call('/version')) as { ready: boolean };
        return version.ready ? true : null;
      } catch {
        return null;
      }
    }, WITHIN_MS);
    if (ready === null) throw new Error(`the daemon is not ready:\n${readFileSync(log, 'utf8')}`);
  };

  const ended = (one: ChildProcess) =>
    new Promise<void>((resolve) => {
      if (one.exitCode !== null || one.signalCode !== null) resolve();
      else one.once('exit', () => resolve());
    });

  /** Fails with everything that helps to see why. */
  const orTell = async <T>(what: string, answer: T | null): Promise<T> => {
    if (answer !== null) return answer;
    const screens: string[] = [];
    for (const session of await daemon.sessions())
      screens.push(`${session}:\n${await daemon.screen(session)}`);
    throw new Error(
      `${what} within ${WITHIN_MS} ms\n${screens.join('\n')}\n${readFileSync(log, 'utf8').slice(-4_000)}`,
    );
  };

  const daemon: RealDaemon = {
    project_dir,
    store,
    data_dir,
    stub,
    async svc(...args) {
      const { code, out } = await daemon.svcMayFail(...args);
      if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}:\n${out}`);
      return out;
    },
    svcMayFail: (...args) =>
      run(process.execPath, [LAUNCHER, ...args], { env, cwd: project_dir }).then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
        (error: { code: number; stdout: string; stderr: string }) => ({
          code: error.code,
          out: error.stdout + error.stderr,
        }),
      ),
    async add(fiber) {
      await daemon.svc('fiber', 'add', fiber, '--slug', fiber, '--store', store, '--body', 'The task.');
    },
    get: (path) => fetch(`${base}${path}`),
    async post(path, body) {
      const answer = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    },
    async arm(fiber) {
      await daemon.add(fiber);
      await daemon.svc('install', fiber, '--project-dir', project_dir, '--agent', AGENT_IDS[name]);
    },
    async release() {
      await call('/quarantine/release', {});
    },
    row: async (fiber) => ((await call(`/fibers/${fiber}`)) as { fiber: FiberRow }).fiber,
    async rowWhere(fiber, test) {
      let last: FiberRow | undefined;
      const found = await eventually(async () => {
        last = await daemon.row(fiber).catch(() => undefined);
        return last !== undefined && test(last) ? last : null;
      }, WITHIN_MS);
      const { runtime, blocked, held } = last ?? {};
      return orTell(`no such row; last: ${JSON.stringify({ runtime, blocked, held })}`, found);
    },
    state: async () => (await call('/state')) as State,
    launches() {
      const runs = join(data_dir, 'runs');
      if (!existsSync(runs)) return [];
      return readdirSync(runs)
        .sort()
        .map((id) => join(runs, id))
        .filter((dir) => existsSync(join(dir, 'run.json')))
        .map((dir) => ({
          ...(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunManifest),
          dir,
          // A session that was claimed was told nothing.
          prompt: existsSync(join(dir, 'prompt.md')) ? readFileSync(join(dir, 'prompt.md'), 'utf8') : '',
        }));
    },
    async launch(number) {
      const found = await eventually(async () => daemon.launches()[number] ?? null, WITHIN_MS);
      return orTell(`no launch ${number}`, found);
    },
    agentPid: ({ dir }) => JSON.parse(readFileSync(join(dir, 'agent.pid'), 'utf8')).pid,
    processesOf: ({ dir }) => processesWith('SVC_RUN_DIR', dir).map((pid) => `${pid} ${commandOf(pid)}`),
    async goneProcessesOf(launch) {
      let left: string[] = [];
      await eventually(async () => {
        left = daemon.processesOf(launch);
        return left.length === 0 ? true : null;
      }, 10_000);
      return left;
    },
    async endOf({ dir }) {
      const file = join(dir, 'end.json');
      const found = await eventually(
        async () => (existsSync(file) ? readFileSync(file, 'utf8') : null),
        WITHIN_MS,
      );
      return JSON.parse(await orTell('no end.json', found)).reason;
    },
    transcriptOf: async (session_uuid) => readFileSync(await daemon.transcriptPathOf(session_uuid), 'utf8'),
    async transcriptPathOf(session_uuid) {
      const folder = join(home, TRANSCRIPT_FOLDERS[name]);
      const found = await eventually(async () => {
        if (!existsSync(folder)) return null;
        const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
        const file = names.find((path) => path.endsWith(`${session_uuid}.jsonl`));
        return file === undefined ? null : join(folder, file);
      }, WITHIN_MS);
      return orTell(`no transcript of ${session_uuid}`, found);
    },
    ledger() {
      const path = join(data_dir, 'sessions.jsonl');
      const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
      return lines.filter(Boolean).map((line) => JSON.parse(line) as SessionLine);
    },
    tmux: async (...args) =>
      (await run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: cleanEnv(home) })).stdout,
    sessions: async () =>
      (await daemon.tmux('list-sessions', '-F', '#{session_name}').catch(() => ''))
        .split('\n')
        .filter(Boolean),
    personalShell() {
      const svc = join(data_dir, 'bin');
      const mine = { ...env, PATH: `${svc}:${env.PATH}`, PS1: '$ ' };
      return ['env', ...Object.entries(mine).map(([key, value]) => `${key}=${value}`), '/bin/sh'];
    },
    screen: (session_name) =>
      daemon.tmux('capture-pane', '-p', '-t', `=${session_name}:`).catch(() => 'the session is gone'),
    async killAndRestart() {
      const killed = child!;
      process.kill(daemonFile().pid, 'SIGKILL');
      await ended(killed);
      await start();
    },
    async stop() {
      if (child !== undefined) {
        child.kill('SIGTERM');
        await ended(child);
      }
      const agents = daemon
        .launches()
        .map(({ dir }) => join(dir, 'agent.pid'))
        .filter(existsSync);
      await stub.stop();
      const left = () => processesWith('HOME', home);
      const gone = await eventually(async () => {
        // The daemon may have been ended in the middle of a launch, so that its session comes after it.
        for (const session of await daemon.sessions()) {
          await daemon.tmux('kill-session', '-t', `=${session}`).catch(() => undefined);
        }
        return left().length === 0 ? true : null;
      }, 30_000);
      const survivors = left().map((pid) => `${pid} ${commandOf(pid)}`);
      for (const pid of left()) process.kill(pid, 'SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      if (gone === null) throw new Error(`left over after ${agents.length} runs:\n${survivors.join('\n')}`);
    },
  };
  await daemon.svc('fiber', 'init', store);
  await start();
  return daemon;
}
