import type { FiberRow } from './wire.ts';

/** A part of a text that matched, from its first character to the one after its last. */
export type Mark = readonly [start: number, end: number];

/** A text, and what matched in it. */
type MarkedText = { text: string; matches: readonly Mark[] };

/** A fiber that was found; `marks` are parts of its name. */
export type FoundFiber = {
  row: FiberRow;
  marks: readonly Mark[];
  terms: readonly string[];
  /** What matched of its outcome, where a word is in nothing else; null for no such word. */
  outcome: MarkedText | null;
};
/** Characters of an outcome before the first that matched. */
const BEFORE_MATCH = 30;

/** What one fiber is found by, without case and accents. */
type Words = {
  name: string;
  id: string;
  uid: string;
  tags: readonly string[];
  host: string;
  outcome: string;
};

/** How good a match of one word is; of several the best counts. */
const SCORES = {
  name_start: 100,
  name_word: 80,
  id_part: 70,
  tag: 60,
  host: 50,
  name_inside: 40,
  id_inside: 30,
  outcome_word: 20,
} as const;
/** For a name that begins with all that was typed, as it was typed. */
const WHOLE_BONUS = 150;

/** Finds fibers in the copy on the page; what a row is found by is made once for each row. */
export class FiberFinder {
  #words = new WeakMap<FiberRow, Words>();

  /**
   * The best fibers for what was typed, and how many there are. Each word has to be in the name, the id, the uid, a tag,
   * the host or the outcome. Without a word, the ones that changed last.
   */
  find(rows: Iterable<FiberRow>, typed: string, most: number): { found: FoundFiber[]; total: number } {
    const query = fold(typed).trim();
    const terms = query.split(/\s+/).filter((term) => term !== '');
    const hits: { row: FiberRow; score: number }[] = [];
    for (const row of rows) {
      const score = terms.length === 0 ? 0 : scoreOf(this.#wordsOf(row), query, terms);
      if (score !== null) hits.push({ row, score });
    }
    hits.sort((a, b) => b.score - a.score || byUse(a.row, b.row));
    const found = hits.slice(0, most).map(({ row }) => ({
      ...{ row, terms, marks: marksIn(row.name, terms) },
      outcome: this.#isByOutcome(row, terms) ? excerptOf(row.outcome ?? '', terms) : null,
    }));
    return { found, total: hits.length };
  }

  #isByOutcome(row: FiberRow, terms: readonly string[]): boolean {
    return terms.some((term) => termScore(this.#wordsOf(row), term) === SCORES.outcome_word);
  }

  #wordsOf(row: FiberRow): Words {
    const known = this.#words.get(row);
    if (known !== undefined) return known;
    const words = {
      name: fold(row.name),
      id: fold(row.id),
      uid: fold(row.uid ?? ''),
      tags: row.tags.map(fold),
      host: fold(row.svc?.host ?? row.origin),
      outcome: fold(row.outcome ?? ''),
    };
    this.#words.set(row, words);
    return words;
  }
}

/** Null where a word is in nothing of the fiber. */
function scoreOf(words: Words, query: string, terms: readonly string[]): number | null {
  let sum = words.name.startsWith(query) ? WHOLE_BONUS : 0;
  for (const term of terms) {
    const score = termScore(words, term);
    if (score === 0) return null;
    sum += score;
  }
  return sum;
}

function termScore({ name, id, uid, tags, host, outcome }: Words, term: string): number {
  const at = wordStart(name, term);
  if (at === 0) return SCORES.name_start;
  if (at > 0) return SCORES.name_word;
  if (uid !== '' && uid.startsWith(term)) return SCORES.id_part;
  if (wordStart(id, term) >= 0) return SCORES.id_part;
  if (tags.some((tag) => tag.startsWith(term.replace(/^#/, '')))) return SCORES.tag;
  if (host.startsWith(term)) return SCORES.host;
  if (name.includes(term)) return SCORES.name_inside;
  if (id.includes(term)) return SCORES.id_inside;
  return wordStart(outcome, term) >= 0 ? SCORES.outcome_word : 0;
}

/** Where a word of the text begins with the term; -1 where none does. */
function wordStart(text: string, term: string): number {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
    if (at === 0 || !isWordChar(text.charAt(at - 1))) return at;
  return -1;
}

function isWordChar(char: string): boolean {
  return /[\p{L}\p{N}]/u.test(char);
}

/** What can still be worked on comes first, then what changed last. */
function byUse(a: FiberRow, b: FiberRow): number {
  const closed = Number(a.status === 'closed') - Number(b.status === 'closed');
  if (closed !== 0) return closed;
  const [at, then] = [changedAt(a), changedAt(b)];
  if (at !== then) return at < then ? 1 : -1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function changedAt({ updated_at, closed_at, created_at }: FiberRow): string {
  return updated_at ?? closed_at ?? created_at ?? '';
}

/** Where the terms are in a text: at the beginnings of its words where they are there. */
export function marksIn(text: string, terms: readonly string[]): Mark[] {
  const folded = fold(text);
  // A letter that is folded into several would shift what follows it.
  if (folded.length !== text.length) return [];
  const marks: Mark[] = [];
  for (const term of terms) {
    const start = wordStart(folded, term);
    const at = start >= 0 ? start : folded.indexOf(term);
    if (at >= 0) marks.push([at, at + term.length]);
  }
  return joined(marks);
}

function excerptOf(text: string, terms: readonly string[]): MarkedText {
  const from = Math.max(0, (marksIn(text, terms)[0]?.[0] ?? 0) - BEFORE_MATCH);
  const excerpt = from === 0 ? text : `…${text.slice(from)}`;
  return { text: excerpt, matches: marksIn(excerpt, terms) };
}

/** A text in pieces, in order; those that matched are marked. */
export function piecesOf(text: string, marks: readonly Mark[]): { text: string; marked: boolean }[] {
  const pieces: { text: string; marked: boolean }[] = [];
  let at = 0;
  for (const [start, end] of joined(marks)) {
    if (start > at) pieces.push({ text: text.slice(at, start), marked: false });
    pieces.push({ text: text.slice(start, end), marked: true });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false });
  return pieces;
}

/** The same marks in order, those that touch as one. */
function joined(marks: readonly Mark[]): Mark[] {
  const all: [number, number][] = [];
  for (const [start, end] of [...marks].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}

/** A text without case and accents. */
export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');
}
