import { statSync } from 'node:fs';
import type { Logger } from '../base/logger.ts';
import { operatorFilePaths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { type AgentRegistry, loadRegistry } from '../harness/agents/registry.ts';

/**
 * The agents of this host, read again only when their file changed (inode, size, times). A file that is not valid is
 * logged once for each of its versions, and the agents of its last valid version stay in force.
 */
export function createAgentsOnDisk(settings: Settings, logger: Logger): () => AgentRegistry {
  const { agents } = operatorFilePaths(settings);
  let known: { stamp: string; registry: AgentRegistry } | null = null;
  return () => {
    const stamp = stampOf(agents);
    if (known?.stamp === stamp) return known.registry;
    const registry = loadRegistry(settings);
    const { problem } = registry;
    if (problem !== null) logger.warn({ detail: problem.message }, 'the agents file is not used');
    const kept = problem === null || known === null ? registry : { ...known.registry, problem };
    known = { stamp, registry: kept };
    return kept;
  };
}

function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return 'none';
  }
}
