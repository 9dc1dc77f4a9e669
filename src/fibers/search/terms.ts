import { CodedError } from '../../base/errors.ts';
import { fold } from './fold.ts';

/** Maximum number of terms; more do not narrow a search. */
const MOST_TERMS = 16;

/**
 * The words and "quoted texts" of a query, folded, without duplicates, in typed order. Throws `invalid_request` if
 * there is none.
 */
export function termsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const [index, part] of query.split(/["“”„]/).entries()) {
    const quoted = index % 2 === 1;
    for (const piece of quoted ? [part] : part.split(/\s+/)) {
      const term = trimmed(fold(piece).trim(), quoted);
      if (term !== '') terms.add(term);
    }
  }
  if (terms.size === 0) throw new CodedError('invalid_request', 'The query contains no word to search for.');
  return [...terms].slice(0, MOST_TERMS);
}

/** A word without trailing punctuation. */
function trimmed(term: string, quoted: boolean): string {
  return quoted ? term : term.replace(/(?<=.)[.,;:!?]+$/, '');
}

/** One occurrence of a term in a folded text; `whole`: the word ends there. */
export type Occurrence = { at: number; whole: boolean };

/** The first occurrence at or after `from` where the term starts a word; null for none. */
export function nextOccurrence(text: string, term: string, from: number): Occurrence | null {
  const anywhere = !isWordUnit(term.charCodeAt(0)) || isUnspaced(term.charCodeAt(0));
  for (let at = text.indexOf(term, from); at !== -1; at = text.indexOf(term, at + 1)) {
    if (!anywhere && at > 0 && isWordUnit(text.charCodeAt(at - 1))) continue;
    const after = text.charCodeAt(at + term.length);
    return { at, whole: !(after > 0 && isWordUnit(after)) };
  }
  return null;
}

function isWordUnit(unit: number): boolean {
  if (unit < 0x80) return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
  return WORD.test(String.fromCharCode(unit));
}
const WORD = /[\p{L}\p{N}\p{Cs}]/u;

/** Scripts without spaces between words: Thai, Lao, Khmer, Chinese and Japanese. */
function isUnspaced(unit: number): boolean {
  return (
    (unit >= 0x0e00 && unit <= 0x0eff) ||
    (unit >= 0x1780 && unit <= 0x17ff) ||
    (unit >= 0x2e80 && unit <= 0x9fff) ||
    (unit >= 0xf900 && unit <= 0xfaff)
  );
}
