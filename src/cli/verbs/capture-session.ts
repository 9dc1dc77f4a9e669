import { join } from 'node:path';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import type { CliContext } from '../command-line/verb.ts';
import { claim } from './claim.ts';

/**
 * Before a capture's own session arms the fiber it has filed, that session claims it: the poller would else start
 * a second worker at once. Nothing to do anywhere else, or when the capture has its fiber.
 */
export async function claimBeforeArming(context: CliContext, fiber_id: string): Promise<void> {
  const { SVC_CAPTURE } = context.env;
  if (!SVC_CAPTURE || ownFiber(context) !== null) return;
  await claim(context, { fiber_id, surface: 'cli', mux_session: SVC_CAPTURE });
}

/** The uid of the fiber that the capture this is called in has claimed; null where it has none, or is no capture. */
export function ownFiber(context: CliContext): string | null {
  const { SVC_CAPTURE, SVC_RUN_DIR } = context.env;
  if (!SVC_CAPTURE || !SVC_RUN_DIR) return null;
  try {
    const text = readRegularTextSync(join(SVC_RUN_DIR, 'run.json'), READ_LIMITS.run_file);
    const { uid } = JSON.parse(text) as { uid?: unknown };
    return typeof uid === 'string' ? uid : null;
  } catch {
    return null;
  }
}
