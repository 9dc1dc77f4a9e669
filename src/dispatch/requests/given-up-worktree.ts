import { CodedError, isCoded } from '../../base/errors.ts';
import { shellLine, shellWord } from '../../base/shell-word.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { LifecycleRequest } from '../../contract/http/lifecycle.ts';
import { worktreeOf } from '../../lifecycle/planned-edit.ts';
import type { Memory } from '../holds/memory.ts';
import { refuseByDirectory } from '../plan/preflight.ts';
import { workTreeOf } from '../run/work-trees.ts';
import type { World } from '../world/world.ts';

export type WorktreeOf = NonNullable<ReturnType<typeof worktreeOf>>;

/**
 * The git worktree that a verb gives up; null where it gives up none. Throws `worktree_in_use` while a worker is in it, and
 * the refusal of one whose removal would lose anything.
 */
export async function givenUpWorktree(
  world: Pick<World, 'lookAtDirectory' | 'worktrees'>,
  { runs }: Pick<Memory, 'runs'>,
  document: FiberDocument,
  request: LifecycleRequest,
): Promise<WorktreeOf | null> {
  const made = worktreeOf(document);
  if (request.action !== 'reshape' || request.worktree !== false || made === null) return null;
  const look = await world.lookAtDirectory(made.folder);
  const unread = look.kind === 'missing' ? null : refuseByDirectory(made.folder, look);
  if (unread !== null) throw new CodedError(unread.reason, unread.message);
  const tree = workTreeOf(look);
  const worker = runs.all().find((run) => tree !== null && run.work_tree === tree);
  if (worker !== undefined)
    throw new CodedError(
      'worktree_in_use',
      `a worker of ${worker.fiber_id} is in ${made.folder}; stop it first with: svc kill ${shellWord(worker.fiber_id)}`,
    );
  await world.worktrees.requireClean(made);
  return made;
}

/**
 * Removes what the document has given up, and answers the words for it. The document is written first: a daemon that is
 * killed in between leaves a folder behind, not a fiber without one.
 */
export async function removeGivenUp(
  { worktrees }: Pick<World, 'worktrees'>,
  given_up: WorktreeOf,
): Promise<string> {
  try {
    const { branch_kept } = await worktrees.remove(given_up);
    const branch =
      branch_kept === null
        ? ''
        : ` Its branch has commits of its own and stays; delete it with: ${branch_kept}`;
    return `Its git worktree ${given_up.path} is removed.${branch}\n`;
  } catch (error) {
    if (!isCoded(error, 'worktree_in_use')) throw error;
    return `It works in ${given_up.of} again, and its git worktree stays: ${error.message}\n`;
  }
}

/** The words for the git worktree of a fiber that is a fiber no more, which is left to its person; empty for none. */
export function wordsOfLeftWorktree(before: FiberDocument): string {
  const made = worktreeOf(before);
  if (made === null) return '';
  const command = shellLine(['git', '-C', made.of, 'worktree', 'remove', made.path]);
  return `Its git worktree stays; remove it with: ${command}\nWith submodules in it, Git wants --force there, which loses what only they have.\n`;
}
