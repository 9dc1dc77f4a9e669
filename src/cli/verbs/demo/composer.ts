import type { Readable } from 'node:stream';

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
  const above = lines.slice(-KEPT_LINES).join('\r\n');
  const field = draft.split('\n').join('\r\n  ');
  return `\u001b[2J\u001b[H${above}\r\n\r\n${RULE}\r\n❯\u00a0${field}\r\n${RULE}\r\n  ? for shortcuts\r\n`;
}

/** A terminal that is read key by key. */
export type KeyInput = Readable & { isTTY?: boolean; setRawMode?(on: boolean): unknown };

export type Composer = {
  /** Shows a text above the field. */
  show(text: string): void;
  /** Gives the terminal back. */
  close(): void;
};

/** A field in a terminal that takes what a person types and what messages are pasted; null where there is none. */
export function openComposer(
  input: KeyInput,
  out: (text: string) => void,
  on: { sent(text: string): void; interrupted(): void },
): Composer | null {
  if (input.isTTY !== true || input.setRawMode === undefined) return null;
  const lines: string[] = [];
  let typed = NOTHING_TYPED;
  const draw = () => out(screenOf(lines, typed.draft));
  const take = (given: string) => {
    const keys = afterKeys(typed, given);
    typed = keys.typed;
    draw();
    for (const text of keys.sent) on.sent(text);
    if (keys.interrupted) on.interrupted();
  };
  input.setRawMode(true);
  input.setEncoding('utf8').on('data', take);
  out('\u001b[?2004h');
  draw();
  return {
    show(text) {
      lines.push(...text.replace(/\n$/, '').split('\n'));
      draw();
    },
    close() {
      input.off('data', take);
      input.setRawMode?.(false);
      input.pause();
      out('\u001b[?2004l');
    },
  };
}
