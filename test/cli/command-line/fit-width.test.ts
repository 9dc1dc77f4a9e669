import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { formatColumns } from '../../../src/cli/command-line/columns.ts';
import { lengthOf, wrapPage } from '../../../src/cli/command-line/fit-width.ts';

it('measures every character, and words of them, as the library does that it asks for unusual ones', () => {
  const unlike: string[] = [];
  for (let code = 0; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code);
    if (lengthOf(character) !== stringWidth(character)) unlike.push(code.toString(16));
  }
  expect(unlike).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...'aé…─│◆●→\u0301\ufe0f\u200d👍日\u001b[1m')), (characters) => {
      const text = characters.join('');
      expect(lengthOf(text)).toBe(stringWidth(text));
    }),
  );
});

it('breaks a command between the words of the shell, never within quotes', () => {
  const command = `svc kill clean-up --note 'I stopped it, and I need the folder' --yes --json`;
  const lines = wrapPage(`  ${command}`, 60).split('\n');
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map((line) => line.trim().replace(/ \\$/, '')).join(' ')).toBe(command);
  expect(lines.filter((line) => (line.split("'").length - 1) % 2 === 1)).toEqual([]);
});

it('leaves a command whole where one of its words is longer than a line', () => {
  const line = `Make it with: svc fiber init '/home/ada/My Projects/Long Customer Name GmbH/nothing here yet'`;
  expect(wrapPage(line, 60)).toBe(line);
});

it('puts each command on a line of its own where only ASCII is shown, since each mark between them is one of the shell', () => {
  const row = { cells: [{ text: 'loader' }], below: ['svc accept loader', 'svc reopen loader -m "…"'] };
  const shown = (unicode: boolean) =>
    formatColumns([row], { width: 80, unicode })
      .map((span) => (typeof span === 'string' ? span : span.text))
      .join('')
      .trim()
      .split(/\n */);
  expect(shown(true)).toEqual(['loader', 'svc accept loader · svc reopen loader -m "…"']);
  expect(shown(false)).toEqual(['loader', 'svc accept loader', 'svc reopen loader -m "..."']);
});
