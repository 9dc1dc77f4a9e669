import { basename } from 'node:path';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { RehearsedNest } from './nest.ts';
import type { Rehearsed } from './store.ts';
import { unifiedDiff } from './text-diff.ts';

/** A write of one document that was not made; `verb` says what it would be, such as `write` or `create`. */
export function rehearsedWrite(verb: string, { path, diff, document }: Rehearsed): Rehearsal {
  if (diff === '') return rehearsal(`write nothing: ${document.id} is already so`);
  const minted: Record<string, string> = document.updated_at === undefined ? {} : { at: document.updated_at };
  if (document.uid !== null && adds(diff, document.uid)) minted.uid = document.uid;
  return rehearsal(`${verb} ${document.id}`, { documents: [{ path, diff }], minted });
}

/** A write of another file that was not made; null stands for a file that is not there. */
export function rehearsedFile(
  would: string,
  path: string,
  { before, after }: { before: string | null; after: string | null },
): Rehearsal {
  const diff = unifiedDiff(basename(path), before, after);
  if (diff === '') return rehearsal(`write nothing: ${path} is already so`);
  return rehearsal(would, { documents: [{ path, diff }] });
}

/** True when the diff writes this ULID into the frontmatter. */
function adds(diff: string, uid: string): boolean {
  return diff.split('\n').some((line) => line.startsWith('+id:') && line.includes(uid));
}

/** A move of a fiber that was not made. */
export function rehearsedNest({ id, new_id, moves, documents, unwritten }: RehearsedNest): Rehearsal {
  if (moves.length === 0) return rehearsal(`move nothing: ${id} lies there already`);
  const left = unwritten.map((one) => `; the links in ${one.id} could not be rewritten: ${one.message}`);
  const [at] = documents.flatMap(({ document }) => document.updated_at ?? []);
  return rehearsal(`move ${id} to ${new_id}${left.join('')}`, {
    moves,
    documents: documents.map(({ path, diff }) => ({ path, diff })),
    minted: at === undefined ? {} : { at },
  });
}
