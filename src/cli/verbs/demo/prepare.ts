import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CodedError } from '../../../base/errors.ts';
import { imitationIn } from '../../../harness/claude/imitation.ts';
import { failureWords } from '../../../platform/failure-words.ts';
import { findExecutable } from '../../../platform/find-executable.ts';
import { makeFolder } from '../../../platform/make-folder.ts';
import { packageRoot } from '../../../platform/package-root.ts';
import type { ProcessRunner } from '../../../platform/process.ts';
import { applyChanges, planInstall } from '../setup/plan.ts';
import { setupTarget } from '../setup.ts';
import { DEMO_AGENT, DEMO_PROJECTS, type DemoFolders, seedDemo } from './store.ts';

const TOOLS = {
  tmux: 'to run its workers in',
  git: 'for the repositories its workers commit to',
};

/** Throws `cli_unavailable`, which names every program that the demo needs and this PATH lacks. */
export async function requireDemoTools(path: string): Promise<void> {
  const tools = Object.entries(TOOLS);
  const found = await Promise.all(tools.map(([name]) => findExecutable(name, path)));
  const missing = tools.filter((_, nth) => found[nth] === null);
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name).join(' and ');
  const needs = missing.map(([name, why]) => `${name} ${why}`).join(' and ');
  const install =
    process.platform === 'darwin' ? `brew install ${names}` : `apt install ${names}, dnf install ${names}`;
  throw new CodedError(
    'cli_unavailable',
    `the demo needs ${needs}; install it (${install.replaceAll(' and ', ' ')}) and try again`,
  );
}

/** Makes the parts of the demo that are missing: its store, its projects, its agent, the folder of its socket. */
export async function prepareDemo(
  folders: DemoFolders,
  options: { runner: ProcessRunner; pace_ms: number; socket: string },
): Promise<void> {
  await seedDemo(folders);
  for (const name of DEMO_PROJECTS) await makeRepository(options.runner, join(folders.projects, name));
  writeAgents(folders, options.pace_ms);
  await setUpAgent(folders);
  writeProjects(folders);
  makeFolder(dirname(options.socket));
}

async function makeRepository(runner: ProcessRunner, cwd: string): Promise<void> {
  if (existsSync(join(cwd, '.git'))) return;
  const made = await runner.run({
    file: 'git',
    args: ['init', '--quiet'],
    cwd,
    timeout_ms: 10_000,
    max_output_bytes: 64 * 1024,
  });
  if (made.kind === 'exited' && made.code === 0) return;
  throw new CodedError('cli_unavailable', `git cannot make a repository in ${cwd}: ${failureWords(made)}`);
}

/** The demo agent keeps its transcripts in the demo's folder. */
function writeAgents(folders: DemoFolders, pace_ms: number): void {
  const launcher = join(packageRoot(), 'src', 'cli', 'launcher.mjs');
  const entry = {
    id: DEMO_AGENT,
    cli: process.execPath,
    args: [launcher, 'demo-agent', '--pace-ms', String(pace_ms), '--playground', folders.projects],
    effort_levels: [],
    default: true,
    ...imitationIn(folders.agent),
  };
  makeFolder(folders.config);
  const text = JSON.stringify({ version: 1, agents: [entry] }, null, 2);
  writeFileSync(join(folders.config, 'agents.json'), `${text}\n`, { mode: 0o600 });
}

/** The hooks that it calls, which the daemon looks for in its folder. */
async function setUpAgent({ agent, data }: DemoFolders): Promise<void> {
  const { harness, env } = imitationIn(agent);
  const { home, files, shared } = await setupTarget(harness, {
    env,
    temp: join(data, 'tmp'),
    mode: 'install',
  });
  applyChanges(home, planInstall(home, files, shared).changes);
}

/** Those that the board offers for a new task; what its user added stays. */
function writeProjects(folders: DemoFolders): void {
  const path = join(folders.config, 'projects.json');
  if (existsSync(path)) return;
  const projects = DEMO_PROJECTS.map((name) => join(folders.projects, name));
  writeFileSync(path, `${JSON.stringify(projects, null, 2)}\n`, { mode: 0o600 });
}
