import { dirname } from 'node:path';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessFinding } from './adapter.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import type { FirstRunQuery } from './harness.ts';

/** A finding if the agent's executable cannot be found; else none. */
export function checkExecutable(query: FirstRunQuery, environment: AgentEnvironment): HarnessFinding[] {
  const { cli, id } = query.agent;
  const file = findExecutable(cli, environment.get('PATH') ?? '', query.project_dir ?? undefined);
  if (file !== null) return [];
  const where = cli.includes('/') ? 'no executable has that path' : 'it is not on PATH';
  return [
    {
      severity: 'error',
      what: `agent ${id} runs "${cli}", and ${where}`,
      mend: `install it, or set "cli" of ${id} in agents.json to its absolute path`,
    },
  ];
}

/** A folder and its ancestors, nearest first. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}
