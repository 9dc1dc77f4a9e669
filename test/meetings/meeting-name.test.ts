import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOf, timeOfDay, titleOf } from '../../src/meetings/meeting-name.ts';

describe('the name of a meeting [CAP-3]', () => {
  it.each([
    ['', 'Meeting'],
    ['   \n\n', 'Meeting'],
    ['---\n', 'Meeting'],
    ['Budget 2027\nwith Ada', 'Budget 2027'],
    ['\n\n# Planning', 'Planning'],
    ['--state /etc/passwd', 'state /etc/passwd'],
    ['a\u001b[31mb', 'a [31mb'],
  ])('takes the title of %j from its first line that says something', (note, title) => {
    expect(titleOf(note)).toBe(title);
  });

  it('never begins with a sign that an option begins with, and has one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (note) => {
        const title = titleOf(note);
        expect(title).not.toMatch(/^-|[\n\r\u0000]/);
        expect([...title].length).toBeLessThanOrEqual(120);
        expect(title).not.toBe('');
      }),
    );
  });

  it('makes a file name of ASCII letters, digits and hyphens that differs for each launch', () => {
    const at = new Date(2026, 10, 23, 9, 5, 7).getTime();
    expect(nameOf('Über Budget: 2027?', '01K00000000000000000ABCDEF', at)).toBe(
      '2026-11-23-0905-uber-budget-2027-abcdef',
    );
    expect(nameOf('会議', '01K0000000000000000000000Z', at)).toBe('2026-11-23-0905-meeting-00000z');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (title) => {
        expect(nameOf(title, '01K00000000000000000ABCDEF', at)).toMatch(/^[a-z0-9-]{1,80}$/);
      }),
    );
    expect(timeOfDay(at)).toBe('09:05:07');
  });
});
