import { isCoded } from './base/errors.ts';
import type { Settings } from './config/settings.ts';
import { readConfigured } from './daemon-boot.ts';
import { checkListener } from './daemon-listeners.ts';

/**
 * What would keep a daemon with these settings from booting in the place of one that holds the addresses `held`, each
 * with its fix. Nothing is changed by looking.
 */
export async function findBootFaults(settings: Settings, held: readonly string[]): Promise<string[]> {
  const checks = [() => readConfigured(settings, { persist: false }), () => checkListener(settings, held)];
  const faults: string[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!isCoded(error)) throw error;
      faults.push(error.message);
    }
  }
  return faults;
}
