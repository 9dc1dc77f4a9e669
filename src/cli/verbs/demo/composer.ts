import { escapeForTerminal } from '../../../base/terminal-text.ts';
import type { Terminal } from '../../../platform/own-terminal.ts';

/** What was typed so far, and what of an escape sequence has come. */
export type Typed = { draft: string; pasting: boolean; rest: string };

export const NOTHING_TYPED: Typed = { draft: '', pasting: false, rest: '' };

/** What keys did: texts that were sent with Enter, and whether Ctrl-C was pressed. */
export type Keys = { typed: Typed; sent: string[]; interrupted: boolean };

const PASTE = /\u001b\[20([01])~/;
/** The beginning of a paste’s mark: a terminal cuts what it gives anywhere. */
const CUT = /\u001b(\[(2(0[01]?)?)?)?$/;
const OTHER_KEYS = /\u001b(\[[0-9;]*[A-Za-z~]|O[A-Za-z])/g;
const CTRL_C = '\u0003';
const ENTER = '\r';
const BACKSPACE = '\u007f';

/** The field after a terminal gave this. */
export function afterKeys(before: Typed, given: string): Keys {
  let { draft, pasting } = before;
  let rest = before.rest + given;
  const sent: string[] = [];
  let interrupted = false;
  const type = (text: string) => {
    if (pasting) {
      draft += text.replaceAll(ENTER, '\n');
      return;
    }
    for (const key of text.replace(OTHER_KEYS, '')) {
      if (key === CTRL_C) interrupted = true;
      else if (key === BACKSPACE) draft = draft.slice(0, -1);
      else if (key !== ENTER) draft += key;
      else {
        if (draft.trim() !== '') sent.push(draft);
        draft = '';
      }
    }
  };
  for (;;) {
    const mark = PASTE.exec(rest);
    const whole = mark === null ? rest.replace(CUT, '') : rest.slice(0, mark.index);
    type(whole);
    rest = rest.slice(mark === null ? whole.length : mark.index + mark[0].length);
    if (mark === null) return { typed: { draft, pasting, rest }, sent, interrupted };
    pasting = mark[1] === '0';
  }
}

const RULE = '─'.repeat(60);
/** Lines above the field that stay on the screen. */
const KEPT_LINES = 14;

/** The screen: what was said, and below it the field, as Claude Code draws its own. */
export function screenOf(lines: readonly string[], draft: string): string {
  const [first = '', ...more] = escapeForTerminal(draft).split('\n');
  const field = [RULE, `❯\u00a0${first}`, ...more.map((line) => `  ${line}`), RULE, '  ? for shortcuts'];
  // Each line to its end, then what is below: a screen that is cleared as a whole goes into the terminal’s history.
  const drawn = [...lines.slice(-KEPT_LINES), '', ...field].map((line) => `${line}\u001b[K\r\n`);
  return `\u001b[H${drawn.join('')}\u001b[J`;
}

export type Composer = {
  /** Shows a text above the field. */
  show(text: string): void;
  /** Gives the terminal back. */
  close(): void;
};

/** A field in a terminal that takes what a person types and what messages are pasted. */
export function openComposer(
  { keys, write }: Terminal,
  on: { sent(text: string): void; interrupted(): void },
): Composer {
  const lines: string[] = [];
  let typed = NOTHING_TYPED;
  const draw = () => write(screenOf(lines, typed.draft));
  keys.setRawMode(true);
  keys.setEncoding('utf8').on('data', (given: string) => {
    const after = afterKeys(typed, given);
    typed = after.typed;
    draw();
    for (const text of after.sent) on.sent(text);
    if (after.interrupted) on.interrupted();
  });
  write('\u001b[?2004h');
  draw();
  return {
    show(text) {
      lines.push(...escapeForTerminal(text).replace(/\n$/, '').split('\n'));
      draw();
    },
    close() {
      keys.setRawMode(false);
      keys.destroy();
      write('\u001b[?2004l');
    },
  };
}
