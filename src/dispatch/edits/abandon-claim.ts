import { messageOf } from '../../base/errors.ts';
import type { Run } from '../run/run.ts';
import type { World } from '../world/world.ts';

/** Writes back what the start had marked in its document, and closes its run directory. */
export async function abandonClaim(
  world: Pick<World, 'clock' | 'documents' | 'runDirectories' | 'logger'>,
  run: Pick<Run, 'fiber_id' | 'launch_id' | 'path' | 'run_id' | 'uid'>,
): Promise<void> {
  const manifest = world.runDirectories.manifest(run.launch_id);
  const undo = manifest.kind === 'found' ? manifest.value.undo : undefined;
  const document = world.documents.of(run);
  if (undo !== undefined && document !== undefined) {
    try {
      await world.documents.change(document, (current) =>
        current.svc?.runtime?.run_id === run.run_id ? undo : { set: {}, unset: [] },
      );
    } catch (error) {
      world.logger.warn(
        { fiber: run.fiber_id, detail: messageOf(error) },
        'the marks of a launch that did not come about stay in the document',
      );
    }
  }
  world.runDirectories.update(run.launch_id, { state: 'ended', ended_at: world.clock.now() });
}
