import { dirname } from 'node:path';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessFinding } from './adapter.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import type { FirstRunQuery } from './harness.ts';

/** The finding about an executable that starting the agent would not find, or none. */
export function checkExecutable(query: FirstRunQuery, environment: AgentEnvironment): HarnessFinding[] {
  const { cli, id } = query.agent;
  const file = findExecutable(cli, environment.get('PATH') ?? '', query.project_dir ?? undefined);
  if (file !== null) return [];
  const where = cli.includes('/') ? 'there is no such executable' : 'it is not on PATH';
  return [
    {
      severity: 'error',
      what: `agent ${id} runs "${cli}", and ${where}`,
      mend: `install it, or set "cli" of ${id} in agents.json to its absolute path`,
    },
  ];
}

/** A folder and its parents, from the folder up. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}
