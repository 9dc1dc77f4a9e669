import type { TranscriptPage } from './wire.ts';

/** What is shown of a transcript: a stretch of it without a gap. */
export type Transcript = { from: number; to: number; words: readonly Said[] };
export type Said = TranscriptPage['words'][number] & { key: string; begins_turn: boolean };

/** The transcript after a page was read at its end, before its beginning, or instead of it where it is another one. */
export function withPage(known: Transcript | null, page: TranscriptPage): Transcript {
  if (known === null) return { from: page.from, to: page.to, words: turns(page.words) };
  if (page.to === known.from)
    return { from: page.from, to: known.to, words: turns([...page.words, ...known.words]) };
  if (page.from === known.to) {
    if (page.words.length === 0) return { ...known, to: page.to };
    return { from: known.from, to: page.to, words: turns([...known.words, ...page.words]) };
  }
  return page.to <= known.to && page.from >= known.from ? known : withPage(null, page);
}

/** A turn begins with the first of what a person said. */
function turns(words: readonly TranscriptPage['words'][number][]): Said[] {
  let byte = -1;
  let nth = 0;
  return words.map((said, index) => {
    nth = said.byte === byte ? nth + 1 : 0;
    byte = said.byte;
    const begins_turn = said.who === 'person' && words[index - 1]?.who !== 'person';
    return { ...said, key: `${byte} ${nth}`, begins_turn };
  });
}
