import { join } from 'node:path';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import type { CliContext } from '../command-line/verb.ts';
import { claim } from './claim.ts';

/**
 * Before the session of a capture arms the fiber that it filed, it claims the fiber; otherwise the poller would start a
 * second worker at once. Does nothing outside a capture, or if the capture already has its fiber.
 */
export async function claimBeforeArming(context: CliContext, fiber_id: string): Promise<void> {
  const { SVC_CAPTURE } = context.env;
  if (!SVC_CAPTURE || ownFiber(context) !== null) return;
  await claim(context, { fiber_id, surface: 'cli', mux_session: SVC_CAPTURE });
}

/** The uid of the fiber that the current capture has claimed; null if it has none, or outside a capture. */
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
