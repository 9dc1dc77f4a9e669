import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Agent } from '../../src/contract/agent.ts';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import {
  type HarnessAdapter,
  type LaunchArgument,
  type LaunchPlan,
  PROMPT,
  type TranscriptProbe,
} from '../../src/harness/adapter.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { builtinAgents } from '../../src/harness/agents/builtin-agents.ts';
import { createCapabilities, type ProgramRunner } from '../../src/harness/capabilities.ts';
import { loopbackEnvironment } from '../kit/caller-environment.ts';
import { type StubModel, startStubModel } from '../kit/stub-model/stub-model.ts';
import { eventually, isAlive, processesWith } from './processes.ts';
import { writeScratchHome } from './scratch-home.ts';

const run = promisify(execFile);
/** Holds the real agent programs, one link each. */
export const BIN = fileURLToPath(new URL('../../.cache/harness/bin', import.meta.url));

/** Runs the program that a capability probe asks for. */
export const programRunner: ProgramRunner = {
  async run({ file, args, env, timeout_ms }) {
    const { stdout, stderr } = await run(file, args, { env, timeout: timeout_ms });
    return { kind: 'exited', stdout, stderr };
  },
};

type Launched = { session_name: string; plan: LaunchPlan; launched_at: number; marker: string };

/** A real agent program in a home, a tmux server and a model of its own. */
export type RealHarness = {
  name: HarnessName;
  home: string;
  project_dir: string;
  agent: Agent;
  adapter: HarnessAdapter;
  stub: StubModel;
  /** The whole environment that the program gets. */
  env: Record<string, string>;
  tmux(...args: string[]): Promise<string>;
  /** Starts the program in tmux with what the adapter planned. */
  launch(prompt: string, marker: string, options?: { resume?: string; effort?: string }): Promise<Launched>;
  /** Waits until the transcript of a launch is found, and its text satisfies the test. */
  transcript(launched: Launched, satisfies: (text: string) => boolean): Promise<FoundTranscript>;
  /** Ends one session and waits until its process is gone. */
  kill(session_name: string): Promise<void>;
  /** What other users can read of them: their arguments. */
  commandLines(): string[];
  /** Ids of the agent’s processes, which are those whose environment names this home; Linux only. */
  processes(): number[];
  stop(): Promise<void>;
};

type FoundTranscript = Extract<TranscriptProbe, { kind: 'found' }> & { text: string };

export type StartOptions = {
  /** Path of the project below the scratch folder. */
  project?: string;
  /** Changes the surroundings before anything starts. */
  prepare?: (scratch: { home: string; project_dir: string }) => void;
  agent?: Partial<Agent>;
};

/** Starts the surroundings of one harness; `stop` removes them all. */
export async function startRealHarness(name: HarnessName, options: StartOptions = {}): Promise<RealHarness> {
  if (!existsSync(join(BIN, name))) {
    throw new Error(`${name} is not installed; run: node test/harness-real/install.mjs`);
  }
  const root = realpathSync(mkdtempSync(join(tmpdir(), `svc-real-${name}-`)));
  const home = join(root, 'home');
  const project_dir = join(root, options.project ?? 'project');
  const socket = join(root, 'tmux');
  for (const folder of [home, project_dir]) mkdirSync(folder, { recursive: true });
  const stub = await startStubModel();
  const own = writeScratchHome[name]({ home, project_dir, model_url: stub.url });
  options.prepare?.({ home, project_dir });
  const env = { ...cleanEnv(home), ...own };
  const builtin = builtinAgents().find((agent) => agent.harness === name)!;
  const agent: Agent = { ...builtin, model: null, ...options.agent };
  const capabilities = createCapabilities({ runner: programRunner, env });
  const adapter = createAdapters({ env, uid: process.getuid?.() ?? null, capabilities })[name];
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: cleanEnv(home) })).stdout;
  const panes = new Map<string, number>();
  // A server whose last session ends is going away while the next launch connects to it.
  const anchor = Number(
    await tmux(
      'new-session',
      '-d',
      '-s',
      'anchor',
      '-P',
      '-F',
      '#{pane_pid}',
      '--',
      'tail',
      '-f',
      '/dev/null',
    ),
  );

  const harness: RealHarness = {
    name,
    home,
    project_dir,
    agent,
    adapter,
    stub,
    env,
    tmux,

    async launch(
      prompt,
      marker,
      { resume = null, effort = null } = {} as { resume?: string; effort?: string },
    ) {
      const session_name = `${name}-${panes.size}-svc`;
      // As in a data folder, where the path of a launch holds the text by which its transcript is known.
      const run_dir = join(root, 'runs', `${marker}-${panes.size}`);
      mkdirSync(run_dir, { recursive: true });
      const session_uuid = randomUUID();
      const plan = adapter.planLaunch({
        agent,
        effort,
        session_uuid,
        resume,
        project_dir,
        session_name,
        run_dir,
        prompt_file: join(run_dir, 'prompt.md'),
      });
      const launched_at = Date.now();
      const script = writeRunScript(run_dir, plan, prompt, env);
      const spec = ['-d', '-s', session_name, '-c', project_dir, '-x', '200', '-y', '50'];
      await tmux('new-session', ...spec, '-P', '-F', '#{pane_pid}', '--', 'sh', script).then((pid) =>
        panes.set(session_name, Number(pid)),
      );
      return { session_name, plan, launched_at, marker };
    },

    async transcript({ plan, marker, launched_at, session_name }, satisfies) {
      const query = { agent, project_dir, session_uuid: plan.session_uuid, marker, launched_at };
      let last: unknown = 'nothing yet';
      const found = await eventually(async () => {
        const probe = await adapter.findTranscript(query);
        last = probe;
        if (probe.kind !== 'found') return null;
        const text = readFileSync(probe.path, 'utf8');
        last = text.slice(-2_000);
        return satisfies(text) ? { ...probe, text } : null;
      }, 60_000);
      if (found !== null) return found;
      const screen = await tmux('capture-pane', '-p', '-t', `=${session_name}:`).catch(
        () => 'the session is gone',
      );
      throw new Error(`no such transcript; last: ${JSON.stringify(last)}\nscreen:\n${screen}`);
    },

    async kill(session_name) {
      await tmux('kill-session', '-t', `=${session_name}`).catch(() => undefined);
      const pid = panes.get(session_name);
      if (pid === undefined) return;
      const gone = await eventually(async () => (isAlive(pid) ? null : true), 10_000);
      if (gone === null) throw new Error(`process ${pid} of ${session_name} outlived its session`);
    },

    commandLines: () =>
      harness.processes().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')),

    processes: () => processesWith('HOME', home).filter((pid) => pid !== anchor),

    async stop() {
      for (const session of [...panes.keys(), 'anchor'])
        await tmux('kill-session', '-t', `=${session}`).catch(() => undefined);
      await stub.stop();
      const left = () => processesWith('HOME', home);
      await eventually(async () => (left().length === 0 ? true : null), 10_000);
      // A program that hears of its terminal's end while it starts may sit through it.
      for (const pid of left()) process.kill(pid, 'SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return harness;
}

/** The variables every run gets: those of the caller, none of which is about an agent or a service. */
export function cleanEnv(home: string): Record<string, string> {
  const path = [BIN, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  const env = { ...loopbackEnvironment(), HOME: home, PATH: path, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  return env as Record<string, string>;
}

function writeRunScript(
  run_dir: string,
  plan: LaunchPlan,
  prompt: string,
  env: Record<string, string>,
): string {
  const promptFile = join(run_dir, 'prompt.md');
  writeFileSync(promptFile, prompt, { mode: 0o600 });
  for (const { name, text } of plan.files) writeFileSync(join(run_dir, name), text, { mode: 0o600 });
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const word = (argument: LaunchArgument) =>
    argument === PROMPT ? `"$(cat ${quote(promptFile)})"` : quote(argument);
  const settings = Object.entries({ ...env, ...plan.env }).map(([name, value]) => quote(`${name}=${value}`));
  const script = join(run_dir, 'run.sh');
  const input = plan.prompt_on_stdin ? ` <${quote(promptFile)}` : '';
  writeFileSync(script, `exec env -i ${settings.join(' ')} ${plan.argv.map(word).join(' ')}${input}\n`);
  return script;
}
