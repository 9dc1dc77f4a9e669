/** One character of a screen with the attributes that tell a placeholder, a cursor and a disabled composer apart. */
export type Cell = { char: string; bold: boolean; dim: boolean; reverse: boolean };

export type ScreenLine = { text: string; cells: Cell[] };

const SEQUENCE =
  /\u001b\[([0-9;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u000e\u000f]|([^\u001b])/gu;
const OFF = { bold: false, dim: false, reverse: false };

/** The lines of a screen as `tmux capture-pane -p -e` prints it, without spaces at their ends. */
export function linesOfScreen(screen: string): ScreenLine[] {
  let style = OFF;
  return screen.split('\n').map((line) => {
    const cells: Cell[] = [];
    for (const [, parameters, command, char] of line.matchAll(SEQUENCE)) {
      if (command === 'm') style = applied(style, parameters ?? '');
      else if (char !== undefined) cells.push({ char, ...style });
    }
    const text = cells.map(({ char }) => char).join('');
    return { text: text.replace(/ +$/, ''), cells };
  });
}

function applied(style: typeof OFF, parameters: string): typeof OFF {
  const codes = parameters.split(';').map(Number);
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index];
    if (code === 38 || code === 48 || code === 58) index += codes[index + 1] === 5 ? 2 : 4;
    else if (code === 0) style = OFF;
    else if (code === 1) style = { ...style, bold: true };
    else if (code === 2) style = { ...style, dim: true };
    else if (code === 22) style = { ...style, bold: false, dim: false };
    else if (code === 7) style = { ...style, reverse: true };
    else if (code === 27) style = { ...style, reverse: false };
  }
  return style;
}

/** The lines of a screen that are not blank, from `start` on. */
export function linesWithText(lines: readonly ScreenLine[], start = 0): ScreenLine[] {
  return lines.slice(start).filter(({ text }) => text.trim() !== '');
}

/**
 * Whether cells after a prompt hold nothing that a person typed: blanks, or a dim placeholder, whose first character may
 * be under the cursor.
 */
export function isEmptyInput(cells: readonly Cell[]): boolean {
  const [first, ...rest] = cells.filter(({ char }) => char.trim() !== '');
  if (first === undefined || first.dim) return rest.every(({ dim }) => dim);
  return first.reverse && rest.length > 0 && rest.every(({ dim }) => dim);
}
