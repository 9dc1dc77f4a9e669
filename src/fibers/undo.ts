import { isDeepStrictEqual } from 'node:util';
import { sha256Of } from '../base/digest.ts';
import type { Undo } from '../contract/http/fibers.ts';
import { readFrontmatter, splitFrontmatter } from './frontmatter.ts';
import type { PlannedWrite } from './store.ts';

/** Paths of frontmatter with the values that they had before a write, and those that were not there. */
export type OldFields = Pick<Undo, 'set' | 'unset'>;

/** Who a fiber is stays as it is, and when it was written last is told of every write. */
const KEPT = new Set(['id', 'created-at', 'updated-at']);

/**
 * What takes a planned write back that was made on the document with the digest `on`, which gave it another one; undefined
 * where that was not the document that it was planned for, or nothing was written.
 */
export function undoOf(planned: PlannedWrite, on: string, digest: string): Undo | undefined {
  const { before, after } = planned;
  if (before === null || after === null || digest === on || sha256Of(Buffer.from(before)) !== on)
    return undefined;
  return { ...oldFields(before, after), digest };
}

/** The fields that a write changed, as they were before it. Both are texts of one document that can be read. */
export function oldFields(before: string, after: string): OldFields {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const old: OldFields = { set: {}, unset: [] };
  collect(was, is, '', old);
  // An edit stamps what it closes, unless it says that there was no stamp.
  if ('status' in old.set && !('closed-at' in was) && !old.unset.includes('closed-at'))
    old.unset.push('closed-at');
  return old;
}

function fieldsOf(text: string): Record<string, unknown> {
  return readFrontmatter(splitFrontmatter(text)?.yaml ?? '').data;
}

function collect(
  was: Record<string, unknown>,
  is: Record<string, unknown>,
  under: string,
  old: OldFields,
): void {
  for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const path = `${under}${key}`;
    const [before, after] = [was[key], is[key]];
    if (KEPT.has(path) || isDeepStrictEqual(before, after)) continue;
    if (isMap(before) && isMap(after) && namesPaths(before) && namesPaths(after))
      collect(before, after, `${path}.`, old);
    else if (key in was) old.set[path] = before;
    else old.unset.push(path);
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key with a dot cannot be named by a path; the map around it is put back as a whole. */
function namesPaths(map: Record<string, unknown>): boolean {
  return Object.keys(map).every((key) => !key.includes('.'));
}
