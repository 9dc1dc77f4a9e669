import type { FiberDocument } from '../../contract/fiber.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import { handedOff } from '../world/documents.ts';
import type { World } from '../world/world.ts';

/**
 * The one fresh start that follows a start which resumed a conversation in vain (P7). It is kept in the run
 * directory of that start, so that a restart of the daemon neither loses it nor makes two of it.
 */
export type OwedStart = { launch_id: string; run_id: string; user_message: string | null };

type Owed = { owed: Map<string, OwedStart> };

/** The fresh start that is owed to this fiber; null once another run was dispatched, or a person armed it again. */
export function owedStart(memory: Owed, document: FiberDocument): OwedStart | null {
  const owed = memory.owed.get(document.uid ?? document.path);
  if (owed === undefined || document.svc?.runtime?.run_id !== owed.run_id || handedOff(document)) return null;
  return owed;
}

/** Takes up what an earlier daemon may still owe; manifests in the order of their starts. */
export function recallOwed(memory: Owed, manifests: readonly RunManifest[]): void {
  for (const { uid, launch_id, run_id, resume, owes_fresh_start } of manifests)
    if (owes_fresh_start === true)
      memory.owed.set(uid, { launch_id, run_id, user_message: resume?.user_message ?? null });
}

/** The fiber is no longer armed: nothing is owed to it any more. */
export function forgetOwed(world: Pick<World, 'runDirectories'>, memory: Owed, key: string): void {
  const owed = memory.owed.get(key);
  if (owed === undefined) return;
  memory.owed.delete(key);
  world.runDirectories.update(owed.launch_id, { owes_fresh_start: false });
}
