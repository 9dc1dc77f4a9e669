import type { CommitPatch, PatchFile, PatchHunk } from './wire.ts';

/** Lines that are shown at first: of one file, and of all. */
export const MOST_LINES = 500;
const MOST_OPEN = 1_500;

/** A line of a hunk with its numbers before and after the commit; null where that side does not have it. */
export type PatchLine = {
  kind: 'added' | 'removed' | 'same' | 'remark';
  before: number | null;
  after: number | null;
  text: string;
};

/** The first line of the message and what follows it; nothing of either in a commit without one. */
export function messageParts({ message, sha }: Pick<CommitPatch, 'message' | 'sha'>): [string, string] {
  const [subject = '', ...rest] = message.split('\n');
  return [subject || `Commit ${sha.slice(0, 12)}`, rest.join('\n').trim()];
}

/** How many files and lines a commit changed: `3 files, +212 −31`. */
export function sumText(files: readonly PatchFile[]): string {
  const added = files.reduce((sum, { additions }) => sum + (additions ?? 0), 0);
  const removed = files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0);
  if (files.length === 0) return 'No file changed';
  return `${files.length === 1 ? '1 file' : `${files.length} files`}, +${added} −${removed}`;
}

/** What became of a file, where its lines do not say it; empty for a file that was changed as text. */
export function changeWords({ change, old_path, binary, additions, deletions }: PatchFile): string {
  const told = {
    added: 'new',
    deleted: 'deleted',
    renamed: `was ${old_path}`,
    copied: `copy of ${old_path}`,
    modified: additions === 0 && deletions === 0 ? 'no line changed' : '',
  }[change];
  return [told, binary ? 'binary' : ''].filter((word) => word !== '').join(', ');
}

/** Whether each file is open at first: as many as fit, those at the beginning first. */
export function openAtFirst(files: readonly PatchFile[]): boolean[] {
  let left = MOST_OPEN;
  return files.map((file) => {
    left -= Math.min(lengthOf(file), MOST_LINES);
    return left >= 0;
  });
}

/** Lines of all hunks of a file. */
export function lengthOf({ hunks }: Pick<PatchFile, 'hunks'>): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** The lines of a hunk, at most so many of them. */
export function numberedLines({ old_start, new_start, lines }: PatchHunk, most: number): PatchLine[] {
  let [before, after] = [old_start, new_start];
  return lines.slice(0, Math.max(0, most)).map((line): PatchLine => {
    const text = line.slice(1);
    switch (line[0]) {
      case '+':
        return { kind: 'added', before: null, after: after++, text };
      case '-':
        return { kind: 'removed', before: before++, after: null, text };
      case '\\':
        return { kind: 'remark', before: null, after: null, text: text.trim() };
      default:
        return { kind: 'same', before: before++, after: after++, text };
    }
  });
}
