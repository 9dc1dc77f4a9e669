import type { FiberDocument } from '../contract/fiber.ts';
import { timeOf } from './markers.ts';
import type { Run } from './runs.ts';
import type { World } from './world.ts';

/**
 * Closes a standing role into awaiting review after its worker ended (LIF-5), in one write. A role that was
 * closed or dispatched anew in the meantime is left as it is.
 */
export async function concludeRole(
  world: World,
  document: FiberDocument,
  run: Run,
  now: number,
): Promise<void> {
  await world.documents.change(document, (current) => {
    const dispatched = timeOf(current.svc?.runtime?.dispatched_at);
    const served = dispatched !== null && dispatched === run.started_at;
    if (current.status !== 'active' || !served) return { set: {}, unset: [] };
    return { set: { status: 'closed', 'closed-at': new Date(now).toISOString() }, unset: ['tempered'] };
  });
}
