import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { HARNESSES } from '../../src/harness/harnesses.ts';

/** Screens of the real programs; the name of each file begins with what it is to be read as. */
const screensOf = (name: string) => {
  const folder = join(import.meta.dirname, name, 'screens');
  return readdirSync(folder)
    .sort()
    .map((file) => ({
      what: file.replace('.txt', ''),
      read_as: file.split('-')[0],
      screen: readFileSync(join(folder, file), 'utf8'),
    }));
};

/** The empty composer of each program, up to its cursor. */
const COMPOSER = {
  claude: /^(?:\u001b\[[0-9;]*m)*❯\u00a0/m,
  codex: /^(?:\u001b\[[0-9;]*m)*›(?:\u001b\[[0-9;]*m)* /m,
  pi: /(?<=─\n)(?=\u001b\[7m)/m,
};

describe.each(HARNESS_NAMES)('a screen of %s', (name) => {
  const { readScreen } = HARNESSES[name].messages;
  const screens = screensOf(name);
  const ready = screens.filter(({ read_as }) => read_as === 'ready');

  it.each(screens)('is recognised: $what', ({ screen, read_as }) => {
    expect(readScreen(screen)).toBe(read_as);
    expect(readScreen(`${screen}\n\n\n`)).toBe(read_as);
  });

  it('is never ready where a person has typed something', () => {
    const { screen } = ready.find(({ what }) => what === 'ready-idle')!;
    expect(screen).toMatch(COMPOSER[name]);
    const typed = fc.stringMatching(/^[!-~]([ -~]{0,40}[!-~])?$/);
    fc.assert(
      fc.property(typed, (text) => {
        const with_text = screen.replace(COMPOSER[name], (before) => `${before}\u001b[0m${text}`);
        expect(readScreen(with_text)).not.toBe('ready');
      }),
    );
  });

  it('is never ready where the composer is not whole', () => {
    for (const { screen } of ready) {
      const lines = screen.trimEnd().split('\n');
      const prompt = lines.findLastIndex(
        (line) => line.search(COMPOSER[name]) === 0 || /^\u001b\[7m/.test(line),
      );
      expect(prompt).toBeGreaterThan(0);
      expect(readScreen(lines.filter((_, index) => index !== prompt).join('\n'))).not.toBe('ready');
      expect(readScreen(lines.slice(0, prompt + 1).join('\n'))).not.toBe('ready');
    }
  });

  it('is unknown if it is blank, of a shell, or of another program', () => {
    for (const screen of ['', '\n\n', '$ \n', 'user@host:~$ ls\na  b\nuser@host:~$ ', '❯ \n', '› \n', '> \n'])
      expect(readScreen(screen)).toBe('unknown');
    for (const other of HARNESS_NAMES.filter((each) => each !== name))
      for (const { screen } of screensOf(other).filter(({ read_as }) => read_as === 'ready'))
        expect(readScreen(screen)).toBe('unknown');
  });

  it('may be any text', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('─'.repeat(40), '❯\u00a0', '› ', '\u001b[7m', '\u001b['),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(['draft', 'dialog', 'unknown']).toContain(readScreen(lines.join('\n')));
      }),
    );
  });
});

describe('the hint of Claude Code that messages are queued', () => {
  const { readScreen } = HARNESSES.claude.messages;
  const { screen } = screensOf('claude').find(({ what }) => what === 'ready-with-two-queued')!;
  const showing = (typed: string) =>
    screen.replace(/^((?:\u001b\[[0-9;]*m)*❯\u00a0).*$/gm, (_, before) => `${before}${typed}`);

  it.each<[what: string, shown: string, read_as: string]>([
    ['dim', '\u001b[7mP\u001b[0m\u001b[2mress up to edit queued messages', 'ready'],
    [
      'in a terminal of few colours',
      '\u001b[7mP\u001b[0m\u001b[31m\u001b[49mress up to edit queued messages',
      'ready',
    ],
    ['typed by a person', 'Press up to edit queued messages\u001b[7m ', 'draft'],
    ['with more words', '\u001b[7mP\u001b[0mress up to edit queued messages, please', 'draft'],
  ])('is an empty composer: %s', (_, shown, read_as) => {
    expect(readScreen(showing(shown))).toBe(read_as);
  });
});

describe('a text that Claude Code kept as a draft', () => {
  const { holdsText } = HARNESSES.claude.messages;
  const { screen: idle } = screensOf('claude').find(({ what }) => what === 'ready-idle')!;
  const showing = (typed: string) => idle.replace(COMPOSER.claude, (before) => `${before}\u001b[0m${typed}`);

  it.each<[what: string, shown: string, text: string, held: boolean]>([
    ['one line', '[message m from w] hello', '[message m from w] hello', true],
    [
      'lines, wrapped and indented',
      '[message m from\n  w]\n  hello\n    you',
      '[message m from w]\nhello\n  you',
      true,
    ],
    ['with its Enter as a line feed', '[message m from w]\n  hello\n  ', '[message m from w]\nhello', true],
    ['folded', '[Pasted text #2 +3 lines]', 'a\nb\nc\nd', true],
    ['folded without line feeds', '[Pasted text #2]', 'a'.repeat(2_000), true],
    ['folded, another text', '[Pasted text #2 +3 lines]', 'a\nb\nc', false],
    ['with words of a person after it', '[message m from w] hello and', '[message m from w] hello', false],
    ['folded, with words of a person', '[Pasted text #2 +3 lines] and', 'a\nb\nc\nd', false],
    ['only words of a person', 'hello', '[message m from w] hello', false],
    ['an empty composer', '', '[message m from w] hello', false],
  ])('is told from what a person wrote: %s', (_, shown, text, held) => {
    expect(holdsText?.(showing(shown), text)).toBe(held);
  });

  it.each(screensOf('claude'))('is on no screen that shows something else: $what', ({ screen }) => {
    expect(holdsText?.(screen, '[message m from w] hello')).toBe(false);
  });
});
