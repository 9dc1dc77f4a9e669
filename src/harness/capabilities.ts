import type { Agent } from '../contract/agent.ts';
import { findExecutable } from '../platform/find-executable.ts';
import { statForeign } from '../platform/foreign-paths.ts';
import { NEUTRAL_DIRECTORY } from '../platform/piped-process.ts';
import { agentEnvironment } from './agent-environment.ts';
import { HARNESSES } from './harnesses.ts';

/** Runs a program to its end; only the output of an `exited` one is used. */
export type ProgramRunner = {
  run(call: {
    file: string;
    args: readonly string[];
    cwd: string;
    env: Record<string, string | undefined>;
    timeout_ms: number;
    max_output_bytes: number;
  }): Promise<{ kind: string; stdout?: string; stderr?: string }>;
};

/** What the installed version of an agent program can do. */
export type Capabilities = {
  /** True if a launch may choose the session id. Assumed true until `probe` has run. */
  choosesSessionId(agent: Agent): boolean;
  /** Runs the program once, and again when its file has changed; if that fails, the last result stays. */
  probe(agent: Agent): Promise<void>;
};

type Known = { file: string; changed_at: number; chooses_session_id: boolean };

const PROBE_TIMEOUT_MS = 15_000;
const MOST_HELP_BYTES = 1024 * 1024;

/** Finds capabilities in the help text of each program, since version numbers are not reliable. */
export function createCapabilities(options: { runner: ProgramRunner; env: NodeJS.ProcessEnv }): Capabilities {
  const known = new Map<string, Known>();
  return {
    choosesSessionId(agent) {
      if (HARNESSES[agent.harness].session_id === 'assigned') return false;
      return known.get(keyOf(agent))?.chooses_session_id ?? true;
    },
    async probe(agent) {
      const { session_id } = HARNESSES[agent.harness];
      if (typeof session_id === 'string') return;
      const { args, option, env } = session_id.probe;
      const environment = agentEnvironment(agent, options.env);
      const file = await findExecutable(agent.cli, environment.get('PATH') ?? '');
      if (file === null) return;
      const changed_at = (await statForeign(file).catch(() => null))?.mtimeMs;
      if (changed_at === undefined) return;
      const last = known.get(keyOf(agent));
      if (last !== undefined && last.file === file && last.changed_at === changed_at) return;
      const help = await options.runner.run({
        file,
        args,
        cwd: NEUTRAL_DIRECTORY,
        env: { ...options.env, ...agent.env, ...env },
        timeout_ms: PROBE_TIMEOUT_MS,
        max_output_bytes: MOST_HELP_BYTES,
      });
      if (help.kind !== 'exited') return;
      const chooses_session_id = `${help.stdout ?? ''}${help.stderr ?? ''}`.includes(option);
      known.set(keyOf(agent), { file, changed_at, chooses_session_id });
    },
  };
}

function keyOf(agent: Agent): string {
  return JSON.stringify([agent.cli, agent.env.PATH ?? null]);
}
