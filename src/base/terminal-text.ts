/**
 * Characters that a terminal acts on or does not show: control characters (ESC begins a sequence), format characters
 * (they change the writing direction, or have no width), line and paragraph separators, halves of surrogate pairs, and
 * whatever else is ignored by default. Line feed and tab are layout.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/**
 * An emoji followed by a hidden character that belongs to it: one selects the coloured form, the other joins two emoji.
 */
const CHOOSES_FORM = /\p{Emoji}$/u;
const JOINED_FROM = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u;
const JOINED_TO = /^\p{Extended_Pictographic}/u;
/** Longer than any character with its variation selector. */
const BESIDE = 4;

/**
 * Makes text safe to print on a terminal: each hidden character becomes `\uXXXX`, one for each UTF-16 unit. The result
 * of escaping JSON is JSON of the same value, because these characters occur only inside JSON strings. Escaping is
 * idempotent.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(HIDDEN, (character, at: number) =>
    isHarmless(character, at, text) ? character : escapeUnits(character),
  );
}

/** Why a text is not shown as it is on one line, after its name: `has a line break`; null if it is. */
export function oneLineFault(text: string): string | null {
  if (/[\n\r]/.test(text)) return 'has a line break; write it on one line';
  const hidden = /[\t]/.exec(text)?.[0] ?? hiddenIn(text);
  if (hidden === null) return null;
  const code = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `has the character U+${code}, which is not shown as text; leave it out`;
}

/** The first character of a text that `escapeForTerminal` changes; null without one. */
function hiddenIn(text: string): string | null {
  for (const { 0: character, index } of text.matchAll(HIDDEN))
    if (!isHarmless(character, index, text)) return character;
  return null;
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
