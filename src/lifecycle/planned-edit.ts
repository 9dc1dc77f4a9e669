import { isAbsolute } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import { type FiberDocument, NEW_WORKTREE } from '../contract/fiber.ts';
import type { DocumentEdit } from '../fibers/edit.ts';

/** The edit of a verb to one document, in one write. A plan of `null` means that nothing has to change. */
export type PlannedEdit = Required<Pick<DocumentEdit, 'set' | 'unset'>>;

/** ISO 8601 in UTC of milliseconds since the Unix epoch. */
export function stamp(now: number): string {
  return new Date(now).toISOString();
}

/** The fields of an active document without a verdict; `editDocument` removes `closed-at`. */
export function armed(edit: PlannedEdit): PlannedEdit {
  return { set: { ...edit.set, status: 'active' }, unset: [...edit.unset, 'tempered'] };
}

/** A git worktree that a start has made for a fiber. Absolute paths: `of` is what it was made from, `path` its top. */
export type OwnWorktree = { of: string; path: string; folder: string; branch: string };

/** Null while there is none. */
export function worktreeOf({ svc }: Pick<FiberDocument, 'svc'>): OwnWorktree | null {
  const { worktree, worktree_of, project_dir } = svc ?? {};
  if (worktree === undefined || worktree === NEW_WORKTREE) return null;
  if (worktree_of === undefined || project_dir === undefined) return null;
  // `folder` may be one below the top, whose name the branch tells.
  const name = `/${worktree.slice(worktree.lastIndexOf('/') + 1)}/`;
  const at = `${project_dir}/`.lastIndexOf(name);
  const path = at === -1 ? project_dir : project_dir.slice(0, at + name.length - 1);
  return { of: worktree_of, path, folder: project_dir, branch: worktree };
}

/**
 * Notes in `edit` that the fiber gets a git worktree, or gives its own up, which is removed by whoever applies the edit.
 * Another folder for a fiber with one is refused: nothing would name the worktree any more.
 */
export function noteWorktree(
  edit: PlannedEdit,
  document: FiberDocument,
  { worktree, project_dir }: { worktree?: boolean | undefined; project_dir?: string | undefined },
): void {
  const { id, svc } = document;
  const made = worktreeOf(document);
  if (worktree === false) {
    if (svc?.worktree === undefined)
      throw new CodedError('invalid_request', `${id} has no git worktree to drop; nothing was changed`);
    if (made !== null) edit.set['svc.project_dir'] = project_dir ?? made.of;
    edit.unset.push('svc.worktree', ...(svc.worktree_of === undefined ? [] : ['svc.worktree_of']));
    return;
  }
  if (made !== null && project_dir !== undefined && project_dir !== made.folder)
    throw new CodedError(
      'invalid_request',
      `${id} works in a git worktree of its own, ${made.folder}; give that up first with: svc reshape ${shellWord(id)} --drop-worktree`,
    );
  if (worktree === true && made === null) edit.set['svc.worktree'] = NEW_WORKTREE;
}

/** Throws `no_service` for a fiber without a svc block. */
export function requireService(document: FiberDocument, verb: string): void {
  if (document.svc !== undefined) return;
  throw new CodedError(
    'no_service',
    `"${document.id}" has no svc block, so there is nothing to ${verb}; use "svc install ${shellWord(document.id)} --project-dir <dir>" first`,
  );
}

/** Validates a directory for a document; throws `project_dir_missing` or `invalid_request`. */
export function requireProjectDir(document: FiberDocument, given: string | undefined): string {
  const path = given ?? document.project_dir;
  if (path === undefined || path === '') {
    throw new CodedError(
      'project_dir_missing',
      `"${document.id}" has no project_dir; name the folder that its worker runs in with --project-dir`,
    );
  }
  if (!isAbsolute(path))
    throw new CodedError('invalid_request', `the project_dir "${path}" is not an absolute path`);
  return path;
}
