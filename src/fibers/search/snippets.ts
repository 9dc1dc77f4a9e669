import { foldWithPlaces } from './fold.ts';
import { nextOccurrence } from './terms.ts';

/** A text with the ranges `[start, end)` that matched, in UTF-16 units. */
export type MarkedText = { text: string; matches: [number, number][] };
export type Snippet = MarkedText & { line: number };

/** Maximum number of matches considered in one body. */
const MOST_PLACES = 400;
const MOST_SNIPPETS = 2;
/** Length of a snippet before its first match, and in total, in UTF-16 units. */
const BEFORE = 60;
const SNIPPET_CHARS = 220;

type Place = { start: number; end: number; term: number };

/** Marks every occurrence of the terms in a short text. */
export function mark(text: string, terms: readonly string[]): MarkedText {
  return { text, matches: merged(placesIn(text, terms)) };
}

/** The parts of a body with most of the terms, in the order of the body. */
export function snippetsOf(body: string, terms: readonly string[]): Snippet[] {
  const places = placesIn(body, terms);
  const windows = places.map(({ start }, index) => {
    const inside = [];
    for (let next = index; next < places.length; next += 1) {
      const place = places[next]!;
      if (place.end > start - BEFORE + SNIPPET_CHARS) break;
      inside.push(place);
    }
    const value = new Set(inside.map(({ term }) => term)).size * MOST_PLACES + inside.length;
    return { start, value };
  });
  windows.sort((a, b) => b.value - a.value || a.start - b.start);
  const chosen: number[] = [];
  for (const { start } of windows) {
    if (chosen.length === MOST_SNIPPETS) break;
    if (chosen.every((other) => Math.abs(other - start) > SNIPPET_CHARS)) chosen.push(start);
  }
  return chosen.sort((a, b) => a - b).map((start) => snippetAt(body, start, places));
}

function snippetAt(body: string, at: number, places: readonly Place[]): Snippet {
  const from = wordStart(body, Math.max(0, at - BEFORE), at);
  const to = wordEnd(body, Math.min(body.length, from + SNIPPET_CHARS));
  const inside = places.filter(({ start, end }) => start >= from && end <= to);
  const head = from > 0 ? '…' : '';
  const tail = to < body.length ? '…' : '';
  // A line break becomes one space, so that offsets stay valid.
  const text = head + body.slice(from, to).replace(/[\r\n\t]/g, ' ') + tail;
  const shift = head.length - from;
  return {
    text,
    matches: merged(inside).map(([start, end]) => [start + shift, end + shift]),
    line: body.slice(0, at).split('\n').length,
  };
}

/** The start of the next word, so that no word is cut; the offset itself if no word starts before the match. */
function wordStart(body: string, from: number, match: number): number {
  if (from === 0) return 0;
  const space = body.slice(from, match).search(/\s/);
  return space === -1 ? unsplit(body, from) : from + space + 1;
}

function wordEnd(body: string, to: number): number {
  if (to === body.length) return to;
  const last = body.slice(Math.max(0, to - 30), to).search(/\s\S*$/);
  return last === -1 ? unsplit(body, to) : Math.max(0, to - 30) + last;
}

/** Never splits a surrogate pair. */
function unsplit(body: string, at: number): number {
  const unit = body.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function placesIn(text: string, terms: readonly string[]): Place[] {
  const { folded, starts } = foldWithPlaces(text);
  const places: Place[] = [];
  for (const [term, word] of terms.entries()) {
    let from = 0;
    for (let count = 0; count < MOST_PLACES; count += 1) {
      const found = nextOccurrence(folded, word, from);
      if (found === null) break;
      from = found.at + word.length;
      places.push({ start: starts[found.at]!, end: endOf(starts, from, text.length), term });
    }
  }
  return places.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Maps the end of a match in folded units to the text: one character may produce several units. */
function endOf(starts: Uint32Array, unit: number, length: number): number {
  const last = starts[unit - 1]!;
  for (let next = unit; next < starts.length; next += 1) if (starts[next]! > last) return starts[next]!;
  return length;
}

function merged(places: readonly Place[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const { start, end } of places) {
    const last = ranges.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else ranges.push([start, end]);
  }
  return ranges;
}
