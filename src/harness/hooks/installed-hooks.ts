import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { HARNESSES, harnessFolder } from '../harnesses.ts';
import type { HookState } from './hook-state.ts';

export type InstalledHooks = HookState & { harness: HarnessName };

/** Compares the hooks in each harness's folder with those that this installation writes. */
export function compareHooks(env: NodeJS.ProcessEnv): Promise<InstalledHooks[]> {
  const compare = async (harness: HarnessName) => {
    const folder = harnessFolder({ harness, env: {} }, env);
    return { harness, ...(await HARNESSES[harness].setup.compareHooks(folder, env)) };
  };
  return Promise.all(HARNESS_NAMES.map(compare));
}
