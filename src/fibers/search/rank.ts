import type { SearchText } from './search-texts.ts';
import { nextOccurrence } from './terms.ts';

/** Weight of an occurrence in each part of a fiber, relative to the body. */
const WEIGHTS: Record<keyof SearchText, number> = { name: 8, tags: 5, outcome: 4, headings: 3, body: 1 };
const PARTS = Object.keys(WEIGHTS) as (keyof SearchText)[];

/** The constants of BM25: saturation of repeated occurrences, and the penalty for a long body. */
const SATURATION = 1.2;
const LENGTH = 0.75;
/** Occurrences of a term in one part beyond this number are not counted. */
const MOST_COUNTED = 8;
/** Weight of a word that only begins with the term, relative to the term itself. */
const BEGINNING = 0.5;

export type Ranked = { index: number; score: number };

/** Number of texts sampled to find the rarest term. */
const SAMPLE = 64;

/**
 * The texts that have every term, best first, by BM25 over weighted parts. Only the rarest term is searched in all
 * texts; the rarity of each further term is measured on the remaining texts.
 */
export function rank(texts: readonly SearchText[], terms: readonly string[]): Ranked[] {
  const average = texts.reduce((sum, { body }) => sum + body.length, 0) / Math.max(1, texts.length) || 1;
  let left: Ranked[] = texts.map((_, index) => ({ index, score: 0 }));
  for (const term of rarestFirst(texts, terms)) {
    const looked = left.length;
    const found: (Ranked & { frequency: number })[] = [];
    for (const { index, score } of left) {
      const frequency = frequencyOf(texts[index]!, term, average);
      if (frequency > 0) found.push({ index, score, frequency });
    }
    const rarity = Math.log(1 + (looked - found.length + 0.5) / (found.length + 0.5));
    left = found.map(({ index, score, frequency }) => ({
      index,
      score: score + (rarity * frequency * (SATURATION + 1)) / (frequency + SATURATION),
    }));
  }
  return left.sort((a, b) => b.score - a.score || a.index - b.index);
}

function rarestFirst(texts: readonly SearchText[], terms: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(texts.length / SAMPLE));
  const sample = texts.filter((_, index) => index % step === 0);
  const counted = terms.map((term) => ({
    term,
    texts: terms.length === 1 ? 0 : sample.filter((text) => frequencyOf(text, term, 1) > 0).length,
  }));
  counted.sort((a, b) => a.texts - b.texts || b.term.length - a.term.length);
  return counted.map(({ term }) => term);
}

/** Weighted occurrences of a term, reduced for a long body; 0 if it does not occur. */
function frequencyOf(text: SearchText, term: string, average: number): number {
  let sum = 0;
  for (const part of PARTS) {
    const count = countOf(text[part], term);
    if (count === 0) continue;
    const length = part === 'body' ? 1 - LENGTH + (LENGTH * text.body.length) / average : 1;
    sum += (WEIGHTS[part] * count) / length;
  }
  return sum;
}

function countOf(text: string, term: string): number {
  let count = 0;
  let from = 0;
  for (let seen = 0; seen < MOST_COUNTED; seen += 1) {
    const found = nextOccurrence(text, term, from);
    if (found === null) break;
    count += found.whole ? 1 : BEGINNING;
    from = found.at + term.length;
  }
  return count;
}
