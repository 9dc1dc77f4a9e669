import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayIn, dayOf, daysBetween } from '../../../board/src/model/days.ts';
import {
  comingMoment,
  commandParts,
  contextText,
  dueWords,
  lasting,
  moment,
  sentence,
  shortDay,
  timeOfDay,
} from '../../../board/src/model/wording.ts';

const TODAY = '2026-11-23';
const at = (day: string, time = '10:05') => new Date(`${day}T${time}:00`).getTime();

describe('times as the board words them', () => {
  it.each([
    [-5, '0 s'],
    [6_400, '6 s'],
    [60_000, '1 min'],
    [48 * 60_000, '48 min'],
    [3_600_000, '1 h'],
    [200 * 60_000, '3 h 20 min'],
    [24 * 3_600_000, '1 day'],
    [71 * 3_600_000, '2 days'],
  ])('%d ms is %s', (ms, words) => expect(lasting(ms)).toBe(words));

  it.each([
    ['2026-11-23', 'today'],
    ['2026-11-24', 'Tue 24'],
    ['2026-11-17', 'Tue 17'],
    ['2026-11-30', '30 Nov'],
    ['2027-02-01', '1 Feb 2027'],
  ])('%s is %s', (day, words) => expect(shortDay(day, TODAY)).toBe(words));

  it('gives the time of today alone, and of a launch of tomorrow too', () => {
    expect(moment(at('2026-11-23'), TODAY)).toBe('10:05');
    expect(moment(at('2026-11-22'), TODAY)).toBe('Sun 22');
    expect(comingMoment(at('2026-11-24'), TODAY)).toBe('Tue 24 10:05');
    expect(comingMoment(at('2026-11-26'), TODAY)).toBe('Thu 26');
    expect(timeOfDay(at(TODAY, '00:30'))).toBe('00:30');
  });

  it('reads a day from the beginning of a value, and nothing else', () => {
    expect(dayIn('2026-02-14')).toBe('2026-02-14');
    expect(dayIn(' 2026-02-14T08:00:00Z')).toBe('2026-02-14');
    for (const value of [undefined, '', 'tomorrow', '2026-02-30', '2026-2-1', '2026-02-141'])
      expect(dayIn(value)).toBeNull();
  });

  it('counts days as the calendar does', () => {
    expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2);
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        expect(dayIn(dayOf(date.getTime()))).toBe(dayOf(date.getTime()));
        expect(daysBetween(TODAY, dayOf(date.getTime()))).toBe(
          -daysBetween(dayOf(date.getTime()), TODAY) + 0,
        );
      }),
    );
  });
});

describe('a due day', () => {
  it.each([
    ['2026-11-24', 'ahead', 'due Tue 24'],
    ['2026-11-23', 'today', 'due today'],
    ['2026-11-22', 'overdue', 'overdue since Sun 22'],
    ['2025-11-22', 'overdue', 'overdue since 22 Nov 2025'],
  ])('is told apart from today and from what is overdue: %s', (day, when, text) => {
    expect(dueWords(day, '2026-11-23')).toEqual({ when, text });
  });
});

describe('how full a context is', () => {
  it.each([
    [157_000, 258_400, '61 % of 258 k tokens'],
    [122_000, null, '122 k tokens'],
  ])('of %d in %s is %s', (tokens, most, words) => expect(contextText({ tokens, most })).toBe(words));
});

describe('the phrases of the daemon', () => {
  it.each([
    ['its status is open', 'Its status is open.'],
    ['/x is missing', '/x is missing.'],
    ['`svc resume a` lets it go', '`svc resume a` lets it go.'],
    ['Which one?', 'Which one?'],
    ['', ''],
  ])('make a sentence of “%s”', (phrase, whole) => expect(sentence(phrase)).toBe(whole));

  it('tell their times as the clock of the page does, but not in what somebody wrote', () => {
    const [now, then] = [at(TODAY), new Date(at(TODAY, '14:30')).toISOString()];
    expect(sentence(`it is tried again at ${then}`, now)).toBe('It is tried again at 14:30.');
    expect(sentence(`its account is at its limit (“${then}”)`, now)).toBe(
      `Its account is at its limit (“${then}”).`,
    );
  });
});

describe('the commands in a text', () => {
  const commands = (text: string) => commandParts(text).flatMap(({ code, text }) => (code ? [text] : []));

  it.each([
    ['run `svc resume a`, then `svc ps`', ['svc resume a', 'svc ps']],
    ['`svc doctor`', ['svc doctor']],
    ['nothing to run', []],
    ['a title with one ` in it', []],
    ['run `svc ps` for a title with one ` in it', ['svc ps']],
  ])('%s', (text, found) => expect(commands(text)).toEqual(found));

  it('leave every other word where it was', () => {
    expect(commandParts('run `svc resume a`, then')).toEqual([
      { code: false, text: 'run ' },
      { code: true, text: 'svc resume a' },
      { code: false, text: ', then' },
    ]);
  });
});
