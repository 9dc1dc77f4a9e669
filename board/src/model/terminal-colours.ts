import type { TerminalRun } from './wire.ts';

export type Scheme = 'light' | 'dark';

/** The ground and the ink of a terminal, and its 16 colours; the other 240 are the same everywhere. */
export type Palette = { ground: string; ink: string; colours: readonly string[] };

export const PALETTES: Readonly<Record<Scheme, Palette>> = {
  light: {
    ground: '#f1f4fa',
    ink: '#12204a',
    colours: [
      ...['#12204a', '#bc2f1c', '#1d7a41', '#8a5a00', '#2540ae', '#8a3a9b', '#0f7285', '#c3cee2'],
      ...['#526088', '#d23f2a', '#23894b', '#9b6700', '#2c4bc4', '#9d45af', '#12829a', '#fafbfe'],
    ],
  },
  dark: {
    ground: '#0e1733',
    ink: '#e9eefb',
    colours: [
      ...['#25345f', '#ff8a75', '#6fcf97', '#ffb53a', '#829cff', '#d69bea', '#62cbe0', '#b4c0e0'],
      ...['#8e9cc4', '#ffa696', '#93e0b2', '#ffcb74', '#a7b9ff', '#e5bcf3', '#93deee', '#f6f8fe'],
    ],
  },
};

/** What AA asks of text. */
const LEAST_CONTRAST = 4.5;

/** The colours of a run as `#rrggbb`; null for the ink and the ground of the terminal itself. */
export type RunColours = { text: string | null; ground: string | null };

const PLAIN: RunColours = { text: null, ground: null };

/**
 * The colours that a run is shown in. A program chose its own for a ground that it did not know, so text is moved away
 * from the ground that it has here until it can be read.
 */
export function coloursOf(run: TerminalRun, { ground, ink, colours }: Palette): RunColours {
  if (typeof run === 'string') return PLAIN;
  const named = (colour: number | string) => (typeof colour === 'string' ? colour : indexed(colour, colours));
  let text = run.fg === undefined ? ink : named(run.fg);
  let behind = run.bg === undefined ? ground : named(run.bg);
  if (run.reverse) [text, behind] = [behind, text];
  if (run.dim) text = mixed(text, behind, 0.35);
  text = readableOn(text, behind);
  return { text: text === ink ? null : text, ground: behind === ground ? null : behind };
}

/** One of the 256 colours: 16 of the palette, a cube of 216, and 24 greys. */
function indexed(index: number, colours: readonly string[]): string {
  if (index < 16) return colours[index] ?? '#000000';
  if (index >= 232) return hexOf(Array(3).fill(8 + (index - 232) * 10));
  const cube = index - 16;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return hexOf([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

/** The nearest colour towards black or white that can be read on this ground. */
export function readableOn(text: string, ground: string): string {
  if (contrast(text, ground) >= LEAST_CONTRAST) return text;
  const away = contrast('#000000', ground) > contrast('#ffffff', ground) ? '#000000' : '#ffffff';
  for (let twentieths = 1; twentieths < 20; twentieths += 1) {
    const moved = mixed(text, away, twentieths / 20);
    if (contrast(moved, ground) >= LEAST_CONTRAST) return moved;
  }
  return away;
}

export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(colour: string, other: string, share: number): string {
  const others = partsOf(other);
  return hexOf(partsOf(colour).map((part, index) => part + ((others[index] ?? 0) - part) * share));
}

function partsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function hexOf(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
