/**
 * Characters that a terminal acts on or does not show: control characters (ESC begins a sequence), format characters
 * (they turn the direction of writing, or have no width), line and paragraph separators, halves of surrogate pairs, and
 * whatever else is ignored by default. Line feed and tab are layout.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/** Where one of two hidden characters belongs to a picture: it chooses the coloured form, or joins two into one. */
const CHOOSES_FORM = /\p{Emoji}$/u;
const JOINED_FROM = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u;
const JOINED_TO = /^\p{Extended_Pictographic}/u;
/** Longer than any character and the one that chooses its form. */
const BESIDE = 4;

/**
 * Text that a terminal shows and nothing else: each hidden character as `\uXXXX`, one for each UTF-16 unit. The result
 * of escaping JSON is JSON of the same value, because none of these characters stands outside of a string there.
 * Escaping it once more changes nothing.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(HIDDEN, (character, at: number) =>
    isHarmless(character, at, text) ? character : escapeUnits(character),
  );
}

function isHarmless(character: string, at: number, text: string): boolean {
  if (character === '\r') return text[at + 1] === '\n';
  const before = () => text.slice(Math.max(0, at - BESIDE), at);
  if (character === '\ufe0f') return CHOOSES_FORM.test(before());
  if (character !== '\u200d') return false;
  return JOINED_FROM.test(before()) && JOINED_TO.test(text.slice(at + 1, at + 1 + BESIDE));
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
