import { diff3Merge, diffIndices } from 'node-diff3';

export const MINE = '<<<<<<< yours';
export const BETWEEN = '=======';
export const THEIRS = '>>>>>>> on disk';

/**
 * Two texts that were made of one, put together by lines. Where both changed the same lines otherwise, both are in it
 * between markers, and `conflicts` counts them.
 */
export function merge(base: string, mine: string, theirs: string): { text: string; conflicts: number } {
  const regions = diff3Merge(mine.split('\n'), base.split('\n'), theirs.split('\n'), {
    excludeFalseConflicts: true,
  });
  const lines = regions.flatMap(({ ok, conflict }) =>
    conflict === undefined ? (ok ?? []) : [MINE, ...conflict.a, BETWEEN, ...conflict.b, THEIRS],
  );
  return {
    text: lines.join('\n'),
    conflicts: regions.filter(({ conflict }) => conflict !== undefined).length,
  };
}

/** The lines of a text, each with whether another text has it too, in the same order. */
export function comparedWith(text: string, other: string): { text: string; same: boolean }[] {
  const lines = text.split('\n');
  const changed = new Set<number>();
  for (const { buffer1 } of diffIndices(lines, other.split('\n'))) {
    const [at, count] = buffer1;
    for (let line = at; line < at + count; line += 1) changed.add(line);
  }
  return lines.map((line, index) => ({ text: line, same: !changed.has(index) }));
}
