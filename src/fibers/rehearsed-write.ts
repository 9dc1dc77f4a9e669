import { basename } from 'node:path';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { PlannedNest } from './nest.ts';
import type { PlannedRemoval, PlannedWrite } from './store.ts';
import { unifiedDiff } from './text-diff.ts';

/** The diff of a planned write; empty if it would write nothing. */
export function rehearsedDocuments({ path, name, before, after }: PlannedWrite): Rehearsal['documents'] {
  const diff = unifiedDiff(name, before, after);
  return diff === '' ? [] : [{ path, diff }];
}

/** A planned write of one document; `verb` says what it would be, such as `write` or `create`. */
export function rehearsedWrite(verb: string, planned: PlannedWrite): Rehearsal {
  const { document } = planned;
  const [written] = rehearsedDocuments(planned);
  if (written === undefined) return rehearsal(`write nothing: ${document.id} has that content already`);
  const minted: Record<string, string> = document.updated_at === undefined ? {} : { at: document.updated_at };
  if (document.uid !== null && adds(written.diff, document.uid)) minted.uid = document.uid;
  return rehearsal(`${verb} ${document.id}`, { documents: [written], minted });
}

/** A planned removal of a document and what is beside it; `before` is its text, null for one that cannot be read. */
export function rehearsedRemoval(
  { id, path, name, beside }: PlannedRemoval,
  before: string | null,
): Rehearsal {
  const rest =
    beside.length === 0 ? '' : ` and, beside it, ${beside.map((other) => basename(other)).join(', ')}`;
  const documents = before === null ? [] : [{ path, diff: unifiedDiff(name, before, null) }];
  return rehearsal(`remove ${id}${rest}`, { documents });
}

/** A planned write of another file; null means that the file does not exist. */
export function rehearsedFile(
  would: string,
  path: string,
  { before, after }: { before: string | null; after: string | null },
): Rehearsal {
  const diff = unifiedDiff(basename(path), before, after);
  if (diff === '') return rehearsal(`write nothing: ${path} has that content already`);
  return rehearsal(would, { documents: [{ path, diff }] });
}

/** Planned writes of other files in one step; null means that the file does not exist. */
export function rehearsedFiles(
  would: string,
  files: readonly { path: string; before: string | null; after: string | null }[],
): Rehearsal {
  const documents = files.map(({ path, before, after }) => ({
    path,
    diff: unifiedDiff(basename(path), before, after),
  }));
  return rehearsal(would, { documents: documents.filter(({ diff }) => diff !== '') });
}

/** True when the diff writes this ULID into the frontmatter. */
function adds(diff: string, uid: string): boolean {
  return diff.split('\n').some((line) => line.startsWith('+id:') && line.includes(uid));
}

/** A planned move of a fiber. */
export function rehearsedNest({ id, new_id, moves, documents, unwritten }: PlannedNest): Rehearsal {
  if (moves.length === 0) return rehearsal(`move nothing: ${id} is already there`);
  const left = unwritten.map((one) => `; the links in ${one.id} could not be rewritten: ${one.message}`);
  const [at] = documents.flatMap(({ document }) => document.updated_at ?? []);
  return rehearsal(`move ${id} to ${new_id}${left.join('')}`, {
    moves,
    documents: documents.flatMap(rehearsedDocuments),
    minted: at === undefined ? {} : { at },
  });
}
