import { stat } from 'node:fs/promises';
import type { Agent } from '../contract/agent.ts';
import { agentEnvironment } from './agent-environment.ts';
import { findExecutable } from './executable.ts';

/** Runs a program to its end and answers what it printed; rejects when it cannot be started or takes too long. */
export type RunProgram = (
  argv: string[],
  options: { env: Record<string, string>; timeout_ms: number },
) => Promise<{ stdout: string; stderr: string }>;

/** What an installed agent program can do that not every version of it can. */
export type Capabilities = {
  /** True when a launch may choose the session id. Assumed until `probe` has looked. */
  choosesSessionId(agent: Agent): boolean;
  /** Asks the program once, and again after its file changed; a program that cannot be asked keeps the last answer. */
  probe(agent: Agent): Promise<void>;
};

type Known = { file: string; changed_at: number; chooses_session_id: boolean };

const PROBE_TIMEOUT_MS = 15_000;

/** Capabilities found by asking each program for its help text, since version numbers tell little. */
export function createCapabilities(options: { run: RunProgram; env: NodeJS.ProcessEnv }): Capabilities {
  const known = new Map<string, Known>();
  return {
    choosesSessionId(agent) {
      if (agent.harness === 'codex') return false;
      return known.get(keyOf(agent))?.chooses_session_id ?? true;
    },
    async probe(agent) {
      if (agent.harness !== 'pi') return;
      const environment = agentEnvironment(agent, options.env);
      const file = await findExecutable(agent.cli, environment.get('PATH') ?? '', null);
      if (file === null) return;
      const changed_at = (await stat(file)).mtimeMs;
      const last = known.get(keyOf(agent));
      if (last !== undefined && last.file === file && last.changed_at === changed_at) return;
      const env = { ...agent.env, PI_OFFLINE: '1' };
      const help = await options
        .run([file, '--help'], { env, timeout_ms: PROBE_TIMEOUT_MS })
        .catch(() => null);
      if (help === null) return;
      const chooses_session_id = `${help.stdout}${help.stderr}`.includes('--session-id');
      known.set(keyOf(agent), { file, changed_at, chooses_session_id });
    },
  };
}

function keyOf(agent: Agent): string {
  return JSON.stringify([agent.cli, agent.env.PATH ?? null]);
}
