import type { HarnessName } from '../contract/harness-name.ts';
import type { HarnessAdapter } from './adapter.ts';
import type { Capabilities } from './capabilities.ts';
import { claudeAdapter } from './claude/adapter.ts';
import { codexAdapter } from './codex/adapter.ts';
import { piAdapter } from './pi/adapter.ts';

/** What the adapters read of the process that starts the agents: its environment and its user. */
export type AdapterSurroundings = {
  env: NodeJS.ProcessEnv;
  /** The user id that agents run as; null where the system has none. */
  uid: number | null;
  capabilities: Capabilities;
};

/** The adapter of each harness. */
export function createAdapters(surroundings: AdapterSurroundings): Record<HarnessName, HarnessAdapter> {
  return {
    claude: claudeAdapter(surroundings),
    codex: codexAdapter(surroundings),
    pi: piAdapter(surroundings),
  };
}
