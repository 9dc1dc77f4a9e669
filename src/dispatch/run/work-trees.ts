import { messageOf } from '../../base/errors.ts';
import type { DirectoryLook, World } from '../world/world.ts';
import type { Run } from './run.ts';
import type { Runs } from './runs.ts';

/** The nearest folder at or above a directory that has a `.git`, else the directory itself, with links resolved. */
export function workTreeOf(look: DirectoryLook): string | null {
  return look.kind === 'directory' ? (look.tree ?? look.real) : null;
}

/**
 * Learns in which work tree each claimed session is. A start has looked at its folder, and a record keeps what was seen, so
 * that no other folder is touched (DSP-4), and none a second time.
 */
export class WorkTrees {
  readonly #world: Pick<World, 'lookAtDirectory' | 'runDirectories' | 'logger'>;
  readonly #runs: Runs;
  readonly #onMoved: (keys: Iterable<string>) => void;
  readonly #asked = new WeakSet<Run>();

  constructor(
    world: Pick<World, 'lookAtDirectory' | 'runDirectories' | 'logger'>,
    runs: Runs,
    onMoved: (keys: Iterable<string>) => void,
  ) {
    this.#world = world;
    this.#runs = runs;
    this.#onMoved = onMoved;
  }

  /** Asks for those that are not known; resolves when every disk has answered, or was given up. Never rejects. */
  async look(): Promise<void> {
    const unknown = this.#runs
      .all()
      .filter((run) => run.claim !== undefined && run.work_tree === undefined && !this.#asked.has(run));
    await Promise.all(unknown.map((run) => this.#learn(run)));
  }

  async #learn(run: Run): Promise<void> {
    this.#asked.add(run);
    try {
      const look = await this.#world.lookAtDirectory(run.project_dir);
      // A disk that is silent now is asked again.
      if (look.kind === 'silent' || look.kind === 'unchecked') this.#asked.delete(run);
      const work_tree = workTreeOf(look);
      if (work_tree === null) return;
      run.work_tree = work_tree;
      this.#onMoved([run.key]);
      this.#world.runDirectories.update(run.launch_id, { work_tree });
    } catch (error) {
      this.#world.logger.warn(
        { fiber: run.fiber_id, detail: messageOf(error) },
        'the work tree of a session was not learned, or not kept',
      );
    }
  }
}

/** What a row says of the other fibers whose workers are in the same work tree: their ids in order, or nothing. */
export function sharing(run: Run, runs: readonly Run[]): { shares_folder_with?: string[] } {
  if (run.work_tree === undefined) return {};
  const others = runs.filter((one) => one !== run && one.work_tree === run.work_tree);
  return others.length === 0 ? {} : { shares_folder_with: others.map(({ fiber_id }) => fiber_id).sort() };
}

/** The keys of the workers in each work tree, by its path. */
export function workersByTree(runs: readonly Run[]): Map<string, string[]> {
  const trees = new Map<string, string[]>();
  for (const { work_tree, key } of runs) {
    if (work_tree === undefined) continue;
    const keys = trees.get(work_tree);
    if (keys === undefined) trees.set(work_tree, [key]);
    else keys.push(key);
  }
  return trees;
}
