import type { CutOffFiber } from '../../contract/http/incidents.ts';
import type { World } from '../world.ts';

/** Whether nobody has decided on the fiber since: a oneshot is still armed, a role has had no other run. */
export function isWaiting(world: World, fiber: CutOffFiber): boolean {
  const document = world.documents.byUid(fiber.uid);
  // A document that is not listed says nothing: its store may not be.
  if (document === undefined) return true;
  if (document.svc === undefined || document.svc.host !== world.host) return false;
  if (document.svc.kind === 'oneshot') return document.status === 'active';
  const run_id = document.svc.runtime?.run_id;
  return run_id === undefined || run_id === fiber.run_id;
}
