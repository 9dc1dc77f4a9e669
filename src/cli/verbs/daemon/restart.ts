import type { Settings } from '../../../config/settings.ts';
import type { CliContext, ExitCode } from '../../command-line/verb.ts';
import { runStart } from './start.ts';
import { stopDaemon } from './stop.ts';

/** Stops the daemon where it runs and starts it; `json` answers what the start answers. */
export async function runRestart(
  context: CliContext,
  settings: Settings,
  options: { timeout: number; json?: boolean },
): Promise<ExitCode> {
  await stopDaemon(context, settings, options.timeout);
  return runStart(context, settings, options);
}
