import { styleText } from 'node:util';

/** What a colour means, as on the board; `heading` and `dim` have none. */
export type Tone = 'machine' | 'you' | 'fault' | 'heading' | 'dim';
export type Span = string | { tone: Tone; text: string };
/** A text in parts, each in one colour; line feeds are part of it. */
export type Styled = readonly Span[];

const FORMATS = { machine: 'blue', you: 'yellow', fault: 'red', heading: 'bold', dim: 'dim' } as const;

/** The bytes for a terminal, or without colour the text alone. `shown` makes each part safe to print. */
export function paint(text: Styled, colour: boolean, shown: (part: string) => string): string {
  return text
    .map((span) => {
      if (typeof span === 'string') return shown(span);
      const part = shown(span.text);
      return colour && part !== '' ? styleText(FORMATS[span.tone], part, { validateStream: false }) : part;
    })
    .join('');
}
