import type { MovedPath } from '../stores/store-documents.ts';
import type { World } from '../world/world.ts';
import type { Runs } from './runs.ts';

/** The workers of fibers that were filed elsewhere stay theirs: a run is known by its uid, and learns its new place. */
export function followMoves(
  world: Pick<World, 'runDirectories'>,
  runs: Runs,
  moved: readonly MovedPath[],
): void {
  for (const { from, path, id } of moved) {
    for (const run of runs.all()) {
      if (run.path !== from) continue;
      run.path = path;
      run.fiber_id = id;
      if (!run.stray) world.runDirectories.update(run.launch_id, { fiber: id, path });
    }
  }
}
