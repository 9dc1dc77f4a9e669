import { changeWords, sumText } from './patch.ts';
import { stateOf } from './states.ts';
import type { FiberRow, Uncommitted } from './wire.ts';

/** A file in a list: `words` say what became of it. */
export type ChangedFile = { path: string; words: string };

/** Whether a sheet shows what lies uncommitted in the folder of its fiber: while a worker runs, and at the review. */
export function showsUncommitted(row: FiberRow): boolean {
  return row.runtime !== undefined || stateOf(row) === 'review';
}

/** Whether anything lies uncommitted and where, or why that cannot be told. */
export function uncommittedWords(
  { host, folder, work }: Uncommitted,
  { svc, shares_folder_with: sharers = [] }: Pick<FiberRow, 'svc' | 'shares_folder_with'>,
): string {
  switch (work.state) {
    case 'no_folder':
      return 'It has no folder.';
    case 'folder_missing':
      return `Its folder ${folder} does not exist on ${host}.`;
    case 'no_repository': {
      const why = /not a git repository/.test(work.detail) ? '' : ` that can be read: ${work.detail}`;
      return `Its folder ${folder} is not in a Git repository${why}.`;
    }
    case 'read': {
      const own = work.branch === svc?.worktree ? 'its own branch' : 'branch';
      const on = work.branch === null ? 'on no branch' : `on ${own} ${work.branch}`;
      if (changedFiles(work).length === 0) return `Nothing uncommitted ${on}.`;
      const others = sharers.length === 0 ? '' : ` Some of it may be the work of ${sharers.join(', ')}.`;
      return `Not committed yet ${on}.${others}`;
    }
  }
}

/** How much lies uncommitted: `2 files, +3 −1, 1 untracked`; null for nothing. */
export function uncommittedSum({ work }: Uncommitted): string | null {
  if (work.state !== 'read') return null;
  const { files, untracked } = work;
  const told = files.length === 0 ? [] : [sumText(files)];
  if (untracked.length > 0) told.push(`${untracked.length} untracked`);
  return told.join(', ') || null;
}

/** What lies uncommitted: the changed files, and after them those that Git does not know. */
export function changedFiles(work: Uncommitted['work']): ChangedFile[] {
  if (work.state !== 'read') return [];
  return [
    ...work.files.map((file) => {
      const lines = file.additions || file.deletions ? `+${file.additions} −${file.deletions}` : '';
      const words = [changeWords(file), lines].filter((word) => word !== '').join(', ');
      return { path: file.path, words };
    }),
    ...work.untracked.map((path) => ({ path, words: 'untracked' })),
  ];
}
