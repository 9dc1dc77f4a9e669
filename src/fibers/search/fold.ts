/** Texts are compared in this form: no case, no accents, no width, one space for any white space. */
export function fold(text: string): string {
  const letters = isAscii(text) ? text.toLowerCase() : foldLetters(text);
  // Most white space is one space already, and is passed over.
  return letters.replace(/(?:[^\S ]|\u0000| (?=[\s\u0000]))[\s\u0000]*/g, ' ');
}

/**
 * `fold` that remembers where each unit came from: `starts[i]` is the place in the text of the character that gave
 * unit `i`, and one more entry is the text's length.
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

/** By way of the upper case, in which some letters become two, and with a last sigma that is a sigma. */
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
