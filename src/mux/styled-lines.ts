/** Attributes of a text as a terminal shows it; colours are an index of 256 or `#rrggbb`. */
type Style = {
  fg?: number | string;
  bg?: number | string;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  reverse?: true;
  hidden?: true;
  strike?: true;
};
type Run = string | ({ text: string } & Style);

/** A line whose runs are longer as JSON, in bytes, is told without attributes, and cut. */
const MOST_LINE_BYTES = 16 * 1024;
/** Characters that are kept of such a line. */
const CUT_LINE_CHARS = 2_000;

/** Escape sequences, and the two characters that switch line drawing on and off. */
const SEQUENCE =
  /\x1b\[([\d;:]*)m|\x1b\[[\d;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x0e\x0f]/g;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/g;

/** What the characters of the line drawing set look like. */
const DRAWN = new Map(
  Object.entries({
    ...{ '`': '◆', a: '▒', f: '°', g: '±', h: '░', i: '␋', j: '┘', k: '┐', l: '┌', m: '└', n: '┼', o: '⎺' },
    ...{ p: '⎻', q: '─', r: '⎼', s: '⎽', t: '├', u: '┤', v: '┴', w: '┬', x: '│', y: '≤', z: '≥', '{': 'π' },
    ...{ '|': '≠', '}': '£', '~': '·', '+': '→', ',': '←', '-': '↑', '.': '↓', '0': '█' },
  }),
);

/**
 * Lines as `capture-pane -p -e -N` prints them, each as the JSON of its runs. Attributes reach from one line to the next.
 * What is blank and looks blank at the end of a line is left out.
 */
export function styledLines(lines: readonly string[]): string[] {
  const pen: Pen = { style: {}, drawing: false };
  return lines.map((line) => {
    const runs = runsOf(line, pen);
    const json = JSON.stringify(runs);
    if (json.length * 3 < MOST_LINE_BYTES || Buffer.byteLength(json) <= MOST_LINE_BYTES) return json;
    const text = runs.map((run) => (typeof run === 'string' ? run : run.text)).join('');
    return JSON.stringify([`${text.slice(0, CUT_LINE_CHARS).toWellFormed()}…`]);
  });
}

type Pen = { style: Style; drawing: boolean };

function runsOf(line: string, pen: Pen): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    write(runs, line.slice(from, match.index), pen);
    from = match.index + match[0].length;
    const [sequence, codes] = match;
    if (sequence === '\x0e') pen.drawing = true;
    else if (sequence === '\x0f') pen.drawing = false;
    else if (codes !== undefined) pen.style = restyled(pen.style, codes);
  }
  write(runs, line.slice(from), pen);
  return withoutBlankEnd(runs);
}

function write(runs: Run[], text: string, { style, drawing }: Pen): void {
  const shown = (drawing ? text.replaceAll(/[ -~]/g, (one) => DRAWN.get(one) ?? one) : text)
    .replaceAll(CONTROL, '')
    .toWellFormed();
  if (shown === '') return;
  const last = runs.at(-1);
  if (Object.keys(style).length === 0) {
    if (typeof last === 'string') runs[runs.length - 1] = last + shown;
    else runs.push(shown);
  } else if (typeof last === 'object' && isSame(last, style)) last.text += shown;
  else runs.push({ text: shown, ...style });
}

function isSame(one: Style, other: Style): boolean {
  return KEYS.every((key) => one[key] === other[key]);
}

function withoutBlankEnd(runs: Run[]): Run[] {
  for (let last = runs.at(-1); last !== undefined; last = runs.at(-1)) {
    const styled = typeof last === 'string' ? { text: last } : last;
    if (LOOKS_FILLED.some((key) => styled[key] !== undefined)) return runs;
    const text = styled.text.trimEnd();
    runs.pop();
    if (text === '') continue;
    runs.push(typeof last === 'string' ? text : { ...last, text });
    return runs;
  }
  return runs;
}

/** The style after one sequence of codes. */
function restyled(before: Style, codes: string): Style {
  const style = { ...before };
  const parts = codes.split(';');
  for (let at = 0; at < parts.length; at += 1) {
    const [code = 0, ...rest] = (parts[at] ?? '').split(':').map(Number);
    if (code === 38 || code === 48 || code === 58) {
      const numbers = rest.length > 0 ? rest : parts.slice(at + 1, at + 5).map(Number);
      const { colour, length } = colourOf(numbers);
      if (rest.length === 0) at += length;
      if (colour !== null && code !== 58) style[code === 38 ? 'fg' : 'bg'] = colour;
    } else apply(style, code, rest);
  }
  return style;
}

function apply(style: Style, code: number, rest: readonly number[]): void {
  if (code === 0) clear(style, ...KEYS);
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4 && rest[0] === 0) clear(style, 'underline');
  else if (code === 4 || code === 21) style.underline = true;
  else if (code === 7) style.reverse = true;
  else if (code === 8) style.hidden = true;
  else if (code === 9) style.strike = true;
  else if (code === 22) clear(style, 'bold', 'dim');
  else if (code === 23) clear(style, 'italic');
  else if (code === 24) clear(style, 'underline');
  else if (code === 27) clear(style, 'reverse');
  else if (code === 28) clear(style, 'hidden');
  else if (code === 29) clear(style, 'strike');
  else if (code === 39) clear(style, 'fg');
  else if (code === 49) clear(style, 'bg');
  else if (code >= 30 && code <= 37) style.fg = code - 30;
  else if (code >= 40 && code <= 47) style.bg = code - 40;
  else if (code >= 90 && code <= 97) style.fg = code - 82;
  else if (code >= 100 && code <= 107) style.bg = code - 92;
}

/** The colour after 38 or 48, and how many numbers it took. */
function colourOf([kind, ...values]: readonly number[]): { colour: number | string | null; length: number } {
  if (kind === 5) {
    const index = values[0] ?? -1;
    return { colour: index >= 0 && index <= 255 ? index : null, length: 2 };
  }
  if (kind !== 2) return { colour: null, length: 1 };
  // With colons the name of a colour space may stand before the three numbers.
  const rgb = values.length > 3 ? values.slice(1, 4) : values;
  const is_rgb = rgb.length === 3 && rgb.every((one) => one >= 0 && one <= 255);
  const hex = rgb.map((one) => one.toString(16).padStart(2, '0')).join('');
  return { colour: is_rgb ? `#${hex}` : null, length: 4 };
}

/** Attributes that are seen on a blank. */
const LOOKS_FILLED = ['bg', 'reverse', 'underline', 'strike'] as const;
const KEYS = ['fg', 'bg', 'bold', 'dim', 'italic', 'underline', 'reverse', 'hidden', 'strike'] as const;

function clear(style: Style, ...keys: (typeof KEYS)[number][]): void {
  for (const key of keys) delete style[key];
}
