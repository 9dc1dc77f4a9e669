import type { Span, Tone } from './styled-text.ts';

/** What a person sees first of a state: a glyph in its colour, never the colour alone. */
const GLYPHS = {
  needs_you: { unicode: '◆', ascii: '!', tone: 'you' },
  review: { unicode: '◇', ascii: '?', tone: 'you' },
  working: { unicode: '●', ascii: '*', tone: 'machine' },
  starting: { unicode: '◌', ascii: '.', tone: 'machine' },
  stopped: { unicode: '■', ascii: 'x', tone: 'fault' },
  fault: { unicode: '✗', ascii: 'x', tone: 'fault' },
  notice: { unicode: '!', ascii: '!', tone: 'you' },
} as const satisfies Record<string, { unicode: string; ascii: string; tone: Tone }>;
export type Glyph = keyof typeof GLYPHS;

export function glyphOf(glyph: Glyph, unicode: boolean): Span {
  const { tone, ...texts } = GLYPHS[glyph];
  return { tone, text: unicode ? texts.unicode : texts.ascii };
}

/** The marks that stand for what was cut off, and between two texts. */
export function marksOf(unicode: boolean): { cut: string; between: string } {
  return unicode ? { cut: '…', between: ' · ' } : { cut: '...', between: ' - ' };
}
