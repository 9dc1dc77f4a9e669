import { CodedError, isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { type FiberDocument, NEW_WORKTREE } from '../../contract/fiber.ts';
import type { WorktreePlace } from '../../platform/git-worktrees.ts';
import type { DocumentChange } from '../world/documents.ts';
import type { World } from '../world/world.ts';

const MOST_LEAF_CHARS = 40;
/** Characters of a ULID that differ between fibers of one name: its random end. */
const ULID_END = 6;

/**
 * The worktree that the next start of a fiber makes of a folder; null where it needs none. The folder's disk must just have
 * answered. Throws `worktree_unavailable`, with how the fiber starts without one.
 */
export async function planWorktree(
  world: Pick<World, 'worktrees'>,
  document: FiberDocument,
  of: string,
): Promise<WorktreePlace | null> {
  if (document.svc?.worktree !== NEW_WORKTREE) return null;
  return orHowToDoWithout(document, of, () => world.worktrees.plan(of, worktreeName(document)));
}

/** Makes the worktree, and moves the fiber into it; a daemon that is killed in between finds it there. */
export async function moveIntoWorktree(
  world: Pick<World, 'worktrees' | 'documents' | 'logger'>,
  document: FiberDocument,
  place: WorktreePlace,
): Promise<FiberDocument> {
  const complaint = await orHowToDoWithout(document, place.of, () => world.worktrees.make(place));
  if (complaint !== null)
    world.logger.warn(
      { fiber: document.id, folder: place.folder, detail: complaint },
      'a git worktree was made, but git or a hook complained',
    );
  const moved = await world.documents.change(document, (current) => {
    const { uid, svc, project_dir } = current;
    // A start that the poller began has moved it.
    if (svc?.worktree === place.branch && project_dir === place.folder) return { set: {}, unset: [] };
    if (uid !== document.uid || svc?.worktree !== NEW_WORKTREE || project_dir !== document.project_dir)
      throw new CodedError('conflict', `${current.id} was changed while its git worktree was being made`);
    return changeInto(place);
  });
  world.logger.info(
    { fiber: document.id, folder: place.folder, branch: place.branch },
    'made a git worktree for a fiber',
  );
  return moved;
}

/** What the document says once its fiber is in the worktree. */
export function changeInto({ of, folder, branch }: WorktreePlace): DocumentChange {
  return {
    set: { 'svc.project_dir': folder, 'svc.worktree': branch, 'svc.worktree_of': of },
    unset: [],
  };
}

/** The last part of the id with the end of the ULID, so that two fibers of one name are apart: `say-hello-4q7zk2`. */
export function worktreeName({ leaf, uid }: Pick<FiberDocument, 'leaf' | 'uid'>): string {
  const words = leaf
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MOST_LEAF_CHARS)
    .replaceAll(/^-+|-+$/g, '');
  return [words, (uid ?? '').slice(-ULID_END).toLowerCase()].filter((part) => part !== '').join('-');
}

async function orHowToDoWithout<T>({ id }: FiberDocument, of: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isCoded(error, 'worktree_unavailable')) throw error;
    throw new CodedError(
      error.code,
      `${error.message}. To have it work in ${of} itself: svc reshape ${shellWord(id)} --drop-worktree`,
    );
  }
}
