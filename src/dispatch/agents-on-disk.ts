import { statSync } from 'node:fs';
import type { Logger } from '../base/logger.ts';
import { operatorFilePaths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { type AgentRegistry, loadRegistry } from '../harness/agents/registry.ts';

/**
 * The agents of this host, read again only when their file moved (inode, size, times). A file that cannot be
 * used is told once for each of its versions.
 */
export function createAgentsOnDisk(settings: Settings, logger: Logger): () => AgentRegistry {
  const { agents } = operatorFilePaths(settings);
  let known: { stamp: string; registry: AgentRegistry } | null = null;
  return () => {
    const stamp = stampOf(agents);
    if (known?.stamp === stamp) return known.registry;
    const { registry, problem } = loadRegistry(settings);
    if (problem !== null) logger.warn({ detail: problem.message }, 'the agents file is not used');
    known = { stamp, registry };
    return registry;
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
