/** Normalises a text for comparison: no case, no accents, no width, one space for any white space. */
export function fold(text: string): string {
  const letters = isAscii(text) ? text.toLowerCase() : foldLetters(text);
  // Skips single spaces, the most common case.
  return letters.replace(/(?:[^\S ]|\u0000| (?=[\s\u0000]))[\s\u0000]*/g, ' ');
}

/**
 * `fold` with source positions: `starts[i]` is the offset in the text of the character that produced unit `i`; the last
 * entry is the text's length.
 */
export function foldWithPlaces(text: string): { folded: string; starts: Uint32Array } {
  const parts: string[] = [];
  const starts: number[] = [];
  let spaced = false;
  const add = (unit: string, at: number, space: boolean) => {
    if (space && spaced) return;
    spaced = space;
    parts.push(space ? ' ' : unit);
    starts.push(at);
  };
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at)!;
    if (code < 0x80) {
      const space = code === 0 || code === 0x20 || (code >= 0x09 && code <= 0x0d);
      add(code >= 0x41 && code <= 0x5a ? String.fromCharCode(code + 0x20) : text[at]!, at, space);
      at += 1;
      continue;
    }
    const character = String.fromCodePoint(code);
    for (const unit of foldLetters(character).split('')) add(unit, at, /\s/.test(unit));
    at += character.length;
  }
  starts.push(text.length);
  return { folded: parts.join(''), starts: Uint32Array.from(starts) };
}

/** Lower case by way of upper case, which expands letters such as ß and unifies the final sigma. */
function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/\p{M}+/gu, '');
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}
