import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { stringify } from 'yaml';
import { programOf } from './built-package.ts';
import { loopbackEnvironment } from './caller-environment.ts';
import { findProgram } from './find-program.ts';
import { isRunning, processesMarked, signal } from './processes.ts';
import { until } from './until.ts';

const LAUNCHER = programOf('launcher.mjs');
export const AGENTS_FOLDER = fileURLToPath(new URL('../fixtures/agents/', import.meta.url));
const COMPILED = fileURLToPath(new URL('../../.cache/e2e', import.meta.url));
const TMUX = findProgram('tmux', process.env.PATH ?? '') ?? '/usr/bin/tmux';

export const TEST_HOST = 'test-host';

/** The agents of `test/fixtures/agents`, by what they do. */
export const AGENT = {
  stays: ['stays.sh'],
  talks: ['talks.sh'],
  'exits-0': ['exits.sh', '0'],
  'exits-3': ['exits.sh', '3'],
  'dies-at-once': ['dies-at-once.sh'],
  'hands-off': ['hands-off.sh'],
  reports: ['reports.sh'],
  asks: ['asks.sh'],
  stubborn: ['stubborn.sh'],
} as const;
type AgentId = keyof typeof AGENT;

export type Ran = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** A fiber to write; `svc` is laid over a block of this host, agent `stays` and a project folder that exists. */
export type TestFiber = {
  /** Further frontmatter; `null` for a key leaves it out. */
  front?: Record<string, unknown>;
  /** Laid over the default block; null for a document without one. */
  svc?: Record<string, unknown> | null;
  agent?: AgentId;
  body?: string;
  store?: string;
};

/** Homes that are in use; what runs in them must not outlive the tests. */
const open = new Set<string>();
process.once('exit', () => {
  for (const root of open) {
    for (const row of processesMarked(root)) signal(row, 'SIGKILL');
    rmSync(root, { recursive: true, force: true });
  }
});

/**
 * A machine of one test's own below one folder: stores, projects, data and configuration folders, agents and a
 * tmux server. `dispose` ends its sessions one by one and fails when a process is left.
 */
export class TestHome {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-e2e-')));
  readonly store = join(this.root, 'store');
  readonly data = join(this.root, 'data');
  readonly config = join(this.root, 'config');
  /** Claude Code's configuration folder, as the agents of this home are told. */
  readonly claude = join(this.root, 'claude');
  readonly socket = join(this.root, 'tmux');
  readonly env: NodeJS.ProcessEnv;
  /** The launcher of the source tree that is run. */
  launcher = LAUNCHER;

  constructor(settings: Record<string, string | undefined> = {}) {
    for (const folder of [join(this.store, '.fibers'), this.config, this.claude])
      mkdirSync(folder, { recursive: true });
    this.env = {
      ...loopbackEnvironment(),
      HOME: this.root,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      // Shared by all, so that only the first process has to compile.
      XDG_CACHE_HOME: COMPILED,
      SVC_HOST: TEST_HOST,
      SVC_STORES: this.store,
      SVC_LISTEN: '127.0.0.1:0',
      SVC_DATA_DIR: this.data,
      SVC_CONFIG_DIR: this.config,
      SVC_RUNTIME_DIR: join(this.root, 'runtime'),
      SVC_TMUX_SOCKET: this.socket,
      SVC_POLL_INTERVAL_MS: '300',
      SVC_KILL_GRACE_MS: '300',
      SVC_DISCOVERY: 'off',
      // Many tests share this machine.
      SVC_BUSY_LOAD: '0',
      ...settings,
    };
    open.add(this.root);
    this.write('config/agents.json', {
      version: 1,
      builtins: 'restrict',
      agents: Object.entries(AGENT).map(([id, [file, ...args]]) => ({
        id,
        harness: 'claude',
        cli: join(AGENTS_FOLDER, file),
        args,
        effort_levels: [],
        default: id === 'stays',
        env: { CLAUDE_CONFIG_DIR: this.claude },
      })),
    });
  }

  /** Absolute path of something below the root. */
  path(...names: string[]): string {
    return resolve(this.root, ...names);
  }

  /** Writes a file below the root, with the folders it needs; values but texts as JSON. */
  write(name: string, content: unknown): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** Writes a file of this size that takes no room on the disk, with a word at its end; left alone for long. */
  sparse(name: string, size: number): string {
    const path = this.path(name);
    const file = openSync(path, 'w');
    ftruncateSync(file, size);
    writeSync(file, 'end', size - 3);
    closeSync(file);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    return path;
  }

  /** A project folder, made when it is not there. */
  project(name: string): string {
    const path = this.path('projects', name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  documentPath(id: string, store = this.store): string {
    return join(store, '.fibers', id, `${id.split('/').at(-1)}.md`);
  }

  document(id: string, store = this.store): string {
    return readFileSync(this.documentPath(id, store), 'utf8');
  }

  /** Writes an armed fiber as a person's editor would, and answers its uid. */
  fiber(id: string, fiber: TestFiber = {}): string {
    const uid = ulid();
    const leaf = id.split('/').at(-1) ?? id;
    const svc =
      fiber.svc === null
        ? undefined
        : {
            kind: 'oneshot',
            host: TEST_HOST,
            agent: fiber.agent ?? 'stays',
            project_dir: this.#projectOf(fiber, leaf),
            ...fiber.svc,
          };
    const front = {
      id: uid,
      name: `Fiber ${leaf}`,
      status: 'active',
      ...fiber.front,
      ...(svc ? { svc } : {}),
    };
    const kept = Object.fromEntries(Object.entries(front).filter(([, value]) => value !== null));
    const path = this.documentPath(id, fiber.store);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `---\n${stringify(kept)}---\n${fiber.body ?? `Work on ${leaf}.\n`}`);
    return uid;
  }

  #projectOf(fiber: TestFiber, leaf: string): string {
    const given = fiber.svc?.project_dir;
    return typeof given === 'string' ? given : this.project(leaf);
  }

  /** Runs `svc` as a person on this machine would. */
  svc(...args: string[]): Promise<Ran> {
    return run(process.execPath, [this.launcher, ...args], this.env);
  }

  /** argv of the daemon in the foreground; `node` options go to the process itself. */
  daemonArgv(node: readonly string[] = []): string[] {
    return [process.execPath, ...node, this.launcher, 'daemon', 'run'];
  }

  /** Runs tmux on this home's own server; what it printed, errors included. */
  async tmux(...args: string[]): Promise<string> {
    const ran = await run(TMUX, ['-u', '-f', '/dev/null', '-S', this.socket, ...args], this.env);
    return (ran.stdout + ran.stderr).trimEnd();
  }

  /** Names of the sessions of this home's tmux server, without the daemon's own anchor. */
  async sessions(): Promise<string[]> {
    if (!existsSync(this.socket)) return [];
    const text = await this.tmux('list-sessions', '-F', 'session:#{session_name}');
    return [...text.matchAll(/^session:(.+)$/gm)].map(([, name]) => name!).filter((n) => n !== 'svc-anchor');
  }

  /** Pid of the process of a session's first pane. */
  async panePid(session: string): Promise<number> {
    return Number(await this.tmux('display-message', '-p', '-t', `=${session}:`, '#{pane_pid}'));
  }

  async dispose(): Promise<void> {
    open.delete(this.root);
    try {
      await this.endSessions();
      await this.assertNoProcess();
    } finally {
      for (const row of processesMarked(this.root)) signal(row, 'SIGKILL');
      await until('the end of every process', () => processesMarked(this.root).length === 0);
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  async endSessions(): Promise<void> {
    for (const name of [...(await this.sessions()), 'svc-anchor'])
      await this.tmux('kill-session', '-t', `=${name}`);
  }

  async assertNoProcess(): Promise<void> {
    const left = () => processesMarked(this.root).filter(isRunning);
    try {
      await until('the end of every process', () => left().length === 0, 8_000);
    } catch {
      throw new Error(`processes were left: ${JSON.stringify(left())}`);
    }
  }
}

/** Runs a program to its end; kills it after `most_ms`. */
export function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  most_ms = 30_000,
  { cwd, input }: { cwd?: string; input?: string } = {},
): Promise<Ran> {
  return new Promise((done, fail) => {
    const child = spawn(file, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      stdio: 'pipe',
      timeout: most_ms,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    child.on('error', fail);
    // A program that reads nothing closes its end before we have written.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', (code, by) => done({ code, signal: by, stdout, stderr }));
  });
}
