import { shellWord } from '../../../base/shell-word.ts';
import type { PatchFile } from '../../../contract/http/commit-patch.ts';
import type { LifeCommit } from '../../../contract/http/life.ts';
import type { Uncommitted } from '../../../contract/http/uncommitted.ts';
import { formatMoment, formatTable } from '../../command-line/output.ts';
import { asWritten } from '../../command-line/typed-command.ts';

/** The commits of a fiber's sessions, oldest first; where each was made, if that is not the folder's repository. */
export function commitTable(
  commits: readonly LifeCommit[],
  work: Uncommitted['work'],
  { width, now }: { width: number; now: number },
): string {
  if (commits.length === 0) return 'Its workers committed nothing yet.\n\n';
  const own = work.state === 'read' ? work.repo : null;
  const repos = new Set([own, ...commits.map(({ repo }) => repo)]);
  const elsewhere = repos.size > 1 && commits.some(({ repo }) => repo !== own);
  const header = ['commit', 'subject', 'files', 'lines', 'when', ...(elsewhere ? ['repository'] : [])];
  const rows = commits.map(({ sha, subject, files, insertions, deletions, at, repo }) => [
    ...[
      sha.slice(0, 8),
      asWritten(subject),
      String(files),
      linesText(insertions, deletions),
      formatMoment(at, now),
    ],
    ...(elsewhere ? [repo] : []),
  ]);
  return `${formatTable(header, rows, width)}\n`;
}

/** `commit 4e1243bd… Say hello`, and when and where it was made. */
export function commitHead({ sha, subject, at, repo }: LifeCommit, now: number): string {
  return `commit ${sha}\n  ${asWritten(subject.replace(/\s+/g, ' '))}\n  ${formatMoment(at, now)} in ${repo}\n`;
}

/** What lies uncommitted in the folder of a fiber, file by file, or why that cannot be told. */
export function uncommittedPage({ host, fiber_id, folder, work }: Uncommitted): string {
  switch (work.state) {
    case 'no_folder':
      return `It has no folder yet; give it one with: svc reshape ${shellWord(fiber_id)} --project-dir <dir>\n`;
    case 'folder_missing':
      return `Its folder ${folder} does not exist on ${host}.\n`;
    case 'no_repository':
      return `Its folder ${folder} is not in a Git repository (${work.detail}).\n`;
    case 'read': {
      const { branch, files, untracked, truncated } = work;
      const place = `${folder} (${branch === null ? 'no branch' : `branch ${branch}`})`;
      if (files.length === 0 && untracked.length === 0) return `Nothing is uncommitted in ${place}.\n`;
      const names = files.map(nameOf);
      const columns = Math.max(...names.map((name) => [...name].length), 0);
      const lines = [
        `Not committed in ${place}:`,
        ...files.map(
          (file, nth) => `  ${CHANGE[file.change]}  ${names[nth]!.padEnd(columns)}  ${linesOf(file)}`,
        ),
        ...untracked.map((path) => `  new       ${path}`),
        ...(truncated ? ['  and more'] : []),
      ];
      return lines.map((line) => `${line.trimEnd()}\n`).join('');
    }
  }
}

/** As wide as each other. */
const CHANGE: Readonly<Record<PatchFile['change'], string>> = {
  added: 'added   ',
  deleted: 'deleted ',
  modified: 'modified',
  renamed: 'renamed ',
  copied: 'copied  ',
};

function nameOf({ path, old_path }: PatchFile): string {
  return old_path === null ? path : `${old_path} -> ${path}`;
}

function linesOf({ additions, deletions, binary }: PatchFile): string {
  if (binary) return 'binary';
  return additions === null || deletions === null ? '' : linesText(additions, deletions);
}

function linesText(insertions: number, deletions: number): string {
  return `+${insertions} -${deletions}`;
}
