import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { readStores } from '../config/path-lists.ts';
import { readSettings } from '../config/settings.ts';
import { packageRoot } from '../platform/package-root.ts';
import { createRunner } from '../platform/process.ts';
import { runForeground } from './daemon/run.ts';
import { findDaemon } from './daemon-file.ts';
import {
  DEMO_AGENT,
  DEMO_HOST,
  DEMO_PROJECTS,
  type DemoFolders,
  demoFolders,
  seedDemo,
} from './demo/store.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from './verb.ts';

type DemoOptions = { dir?: string; unlessConfigured?: boolean; remove?: boolean; paceMs: string };

/** tmux takes socket paths of up to 107 bytes; some room is left for its lock file. */
const MOST_SOCKET_PATH = 95;

/**
 * `svc demo`: a store with eight fibers, an agent without a model, and a daemon in the foreground, all below one
 * folder and apart from the user's own configuration.
 */
export const verb: Verb = {
  name: 'demo',
  summary: 'Try everything with an agent that costs nothing',
  register(command, context, exit) {
    command
      .option('--dir <dir>', 'folder for everything the demo makes')
      .option('--unless-configured', 'run the daemon on the configured stores when there are any')
      .option('--remove', 'remove the demo and all it made')
      .option('--pace-ms <ms>', 'milliseconds between two steps of the demo agent', '1500')
      .action(async (options: DemoOptions) => exit(await runDemo(context, options)));
  },
};

async function runDemo(context: CliContext, options: DemoOptions): Promise<ExitCode> {
  const own = readSettings(context.env);
  if (options.unlessConfigured === true && readStores(own).paths.length > 0)
    return runForeground(context, own);
  const root = resolve(context.cwd, options.dir ?? demoRoot(own.data_dir));
  const folders = demoFolders(root);
  const env = demoEnvironment(context.env, folders, root);
  if (options.remove === true) return removeDemo(context, root, env);
  await seedDemo(folders);
  await makeRepositories(folders);
  writeAgents(folders, options.paceMs);
  context.err(welcome(root, env.SVC_LISTEN));
  Object.assign(process.env, env);
  return runForeground(
    { ...context, env: { ...context.env, ...env } },
    readSettings({ ...context.env, ...env }),
  );
}

/** In a checkout the demo lies inside it; an installed package keeps it beside its data. */
function demoRoot(data_dir: string): string {
  const root = packageRoot();
  return existsSync(join(root, 'test')) ? join(root, '.cache', 'demo') : join(data_dir, 'demo');
}

function demoEnvironment(env: NodeJS.ProcessEnv, folders: DemoFolders, root: string) {
  return {
    SVC_DATA_DIR: folders.data,
    SVC_CONFIG_DIR: folders.config,
    SVC_STORES: folders.store,
    SVC_HOST: DEMO_HOST,
    SVC_TMUX_SOCKET: socketPath(root),
    SVC_LISTEN: env.SVC_LISTEN ?? '127.0.0.1:4000',
    SVC_POLL_INTERVAL_MS: env.SVC_POLL_INTERVAL_MS ?? '2000',
    SVC_LOG_LEVEL: env.SVC_LOG_LEVEL ?? 'warn',
    SVC_DEMO: '1',
  };
}

function socketPath(root: string): string {
  const inside = join(root, 'tmux.sock');
  if (Buffer.byteLength(inside) <= MOST_SOCKET_PATH) return inside;
  return join(tmpdir(), `svc-demo-${process.getuid?.() ?? 0}`, 'tmux.sock');
}

async function makeRepositories(folders: DemoFolders): Promise<void> {
  const runner = createRunner();
  for (const name of DEMO_PROJECTS) {
    const cwd = join(folders.projects, name);
    if (existsSync(join(cwd, '.git'))) continue;
    const made = await runner.run({
      file: 'git',
      args: ['init', '--quiet'],
      cwd,
      timeout_ms: 10_000,
      max_output_bytes: 64 * 1024,
    });
    if (made.kind !== 'exited' || made.code !== 0)
      throw new CodedError('cli_unavailable', `the demo needs git to make ${cwd}; install it first`);
  }
}

/** The demo agent speaks the option language of Claude Code, and keeps its transcripts in the demo's folder. */
function writeAgents(folders: DemoFolders, pace_ms: string): void {
  const entry = {
    id: DEMO_AGENT,
    harness: 'claude',
    cli: process.execPath,
    args: [join(packageRoot(), 'src', 'cli', 'launcher.mjs'), 'demo-agent', '--pace-ms', pace_ms],
    effort_levels: [],
    default: true,
    env: { CLAUDE_CONFIG_DIR: folders.agent },
  };
  mkdirSync(folders.config, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ version: 1, builtins: 'restrict', agents: [entry] }, null, 2);
  writeFileSync(join(folders.config, 'agents.json'), `${text}\n`, { mode: 0o600 });
}

async function removeDemo(context: CliContext, root: string, env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const lookup = await findDaemon(readSettings({ ...context.env, ...env }));
  if (lookup.kind === 'running')
    throw new CodedError(
      'daemon_running',
      `the demo still runs (pid ${lookup.daemon.pid}); stop it with Ctrl-C in its terminal first`,
    );
  rmSync(root, { recursive: true, force: true });
  context.out(`Removed ${root}.\n`);
  return EXIT.ok;
}

function welcome(root: string, listen: string): string {
  return `Fiber Dispatch demo: eight fibers, an agent without a model, nothing of yours touched.
  Everything lies in ${root}

  The board and the API   http://${listen}/   http://${listen}/api/v1/fibers
  What runs               SVC_DATA_DIR=${join(root, 'data')} svc status

To put your own project on it, stop this with Ctrl-C, then:
  svc fiber init ~/notes && svc fiber add "My first task" --store ~/notes
  svc install my-first-task --project-dir ~/my-project --store ~/notes
  SVC_STORES=~/notes svc daemon run

`;
}
