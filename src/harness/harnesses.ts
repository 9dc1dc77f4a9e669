import { shellWord } from '../base/shell-word.ts';
import type { Agent } from '../contract/agent.ts';
import { HARNESS_NAMES, type HarnessName } from '../contract/harness-name.ts';
import { agentEnvironment, type HarnessEnvironment } from './agent-environment.ts';
import { claude } from './claude/harness.ts';
import { codex } from './codex/harness.ts';
import type { Harness } from './harness.ts';
import { pi } from './pi/harness.ts';

/** Every agent program that the service can start. */
export const HARNESSES: Record<HarnessName, Harness> = { claude, codex, pi };

/** A record with the result of `make` for each harness. */
export function forEachHarness<T>(make: (harness: Harness) => T): Record<HarnessName, T> {
  return Object.fromEntries(HARNESS_NAMES.map((name) => [name, make(HARNESSES[name])])) as Record<
    HarnessName,
    T
  >;
}

/** The environment of an agent's program, with the folder of its harness. */
export function harnessEnvironment(
  { harness, env }: Pick<Agent, 'harness' | 'env'>,
  base: NodeJS.ProcessEnv,
): HarnessEnvironment {
  const environment = agentEnvironment({ env }, base);
  return { ...environment, folder: HARNESSES[harness].folder(environment) };
}

/** The folder with the settings and transcripts of an agent's harness. */
export function harnessFolder(agent: Pick<Agent, 'harness' | 'env'>, base: NodeJS.ProcessEnv): string {
  return harnessEnvironment(agent, base).folder;
}

/** The command that installs the hooks where an agent reads them: in a folder of its own where its `env` names one. */
export function setupCommand(
  { harness, env }: Pick<Agent, 'harness' | 'env'>,
  base: NodeJS.ProcessEnv,
): string {
  const command = `svc setup ${harness}`;
  const folder = harnessFolder({ harness, env }, base);
  if (folder === harnessFolder({ harness, env: {} }, base)) return command;
  return `${HARNESSES[harness].folder_variable}=${shellWord(folder)} ${command}`;
}
