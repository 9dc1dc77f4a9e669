import { alternatives } from './alternatives.ts';

/** Most words that a suggestion names. */
const MOST_SUGGESTED = 3;

/** Fewer letters begin too many words. */
const LEAST_BEGINNING = 3;

/**
 * The known words that a mistyped one may stand for, nearest first: those with the fewest letters added, left out,
 * replaced or swapped, where most of the letters are right; without any, those that begin with it. Upper and lower case
 * count as the same.
 */
export function nearestWords(typed: string, known: Iterable<string>): string[] {
  const word = typed.toLowerCase();
  const found = [...new Set(known)].flatMap((candidate) => {
    const other = candidate.toLowerCase();
    const most = Math.min(3, Math.floor(Math.max(word.length, other.length) * 0.4));
    if (Math.abs(word.length - other.length) > most) return [];
    const distance = editDistance(word, other);
    return distance <= most ? [{ candidate, distance }] : [];
  });
  if (found.length === 0) return beginningWith(word, known).slice(0, MOST_SUGGESTED);
  const least = Math.min(...found.map(({ distance }) => distance));
  return found
    .filter(({ distance }) => distance === least)
    .map(({ candidate }) => candidate)
    .sort()
    .slice(0, MOST_SUGGESTED);
}

/** In the order in which they are known. */
function beginningWith(word: string, known: Iterable<string>): string[] {
  if (word.length < LEAST_BEGINNING) return [];
  return [...new Set(known)].filter((candidate) => candidate.toLowerCase().startsWith(word));
}

/** A question to put behind a refusal, with the space before it; empty where no known word is near. */
export function didYouMean(typed: string, known: Iterable<string>): string {
  const near = nearestWords(typed, known);
  return near.length === 0 ? '' : ` Did you mean ${alternatives(near)}?`;
}

/** The distance of Damerau and Levenshtein, where no letter is moved twice. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(line[column - 1]! + 1, above[column]! + 1, above[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        least = Math.min(least, before[column - 2]! + 1);
      line.push(least);
    }
    before = above;
    above = line;
  }
  return above[b.length]!;
}
