import type { Clock } from './base/clock.ts';
import { CodedError } from './base/errors.ts';
import type { Settings } from './config/settings.ts';

/** Boots the daemon and answers its exit code once it has stopped. */
export async function runDaemon(_options: {
  settings: Settings;
  env: NodeJS.ProcessEnv;
  clock: Clock;
}): Promise<number> {
  throw new CodedError('component_unavailable', 'this build holds no daemon; install a complete one');
}
