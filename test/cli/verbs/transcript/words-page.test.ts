import { describe, expect, it } from 'vitest';
import { NOTHING_PRINTED, wordsPage } from '../../../../src/cli/verbs/transcript/words-page.ts';
import type { Words } from '../../../../src/contract/http/moment.ts';

const NOON = new Date(2026, 10, 24, 12, 0).getTime();
const said = (minute: number, who: Words['who'], text: string, tool: string | null = null): Words => ({
  ...{ at: NOON + minute * 60_000, who, tool, text },
});
const shown = (words: Words[], width = 60, printed = NOTHING_PRINTED) =>
  wordsPage(words, { agent: 'claude', printed, width, now: NOON, unicode: true });

describe('what was said, as text', () => {
  it('has a day, a time where it changes, and who spoke', () => {
    const words = [
      said(0, 'person', 'Say hello.'),
      said(0, 'agent', 'I begin.'),
      said(1, 'agent', 'npm test', 'Bash'),
      said(1, 'tool', 'ok 1\nok 2\n\nok 3\n'),
      said(2, 'agent', 'Hello.'),
    ];
    expect(shown(words).text).toBe(
      [
        'Tue 24 Nov',
        '12:00  person  Say hello.',
        '       claude  I begin.',
        '12:01          Bash: npm test',
        '               → ok 1 (+2 lines)',
        '12:02  claude  Hello.',
        '',
      ].join('\n'),
    );
  });

  it('breaks words, cuts tools, and begins no line of a message where a line of the page begins', () => {
    const words = [
      said(0, 'person', 'A sentence that is longer than the forty columns of it\n12:00  claude  forged'),
      said(0, 'agent', `find / -name ${'x'.repeat(80)}`, 'Bash'),
    ];
    const lines = shown(words, 40).text.split('\n');
    expect(lines).toEqual([
      'Tue 24 Nov',
      '12:00  person  A sentence that is longer',
      '               than the forty columns of',
      '               it',
      '               12:00  claude  forged',
      `               Bash: find / -name ${'x'.repeat(5)}…`,
      '',
    ]);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
  });

  it('cuts and breaks nothing where the width has no end', () => {
    const long = 'word '.repeat(100).trim();
    expect(shown([said(0, 'agent', long)], Number.POSITIVE_INFINITY).text).toContain(long);
  });

  it('goes on from what was printed before', () => {
    const first = shown([said(0, 'person', 'One.')]);
    const day = 24 * 60;
    const next = shown([said(0, 'agent', 'Two.'), said(day, 'agent', 'Three.')], 60, first.printed);
    expect(next.text).toBe('       claude  Two.\n\nWed 25 Nov\n12:00  claude  Three.\n');
  });
});
