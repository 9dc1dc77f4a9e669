import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, NO_TRACE, type Stretch } from '../../../board/src/model/activity.ts';
import type { Late } from '../../../board/src/model/day-book.ts';
import type { Lane } from '../../../board/src/model/day-lanes.ts';
import { fleetShape, knownOf, laneShape } from '../../../board/src/model/day-shape.ts';
import { cursorAt, fittedTo, showing, stepOf, ticksOf, zoomed } from '../../../board/src/model/day-window.ts';
import {
  cellsOf,
  countWords,
  dayHeading,
  doersAt,
  doingAt,
  emptyWords,
  heardAt,
  laneLabel,
  lateText,
  lineAt,
  sessionAt,
  workText,
} from '../../../board/src/model/day-words.ts';
import { type Day, startOf, stretchOf } from '../../../board/src/model/days.ts';
import type { FiberRow, Words } from '../../../board/src/model/wire.ts';
import { live, row } from './rows.ts';

const before = process.env.TZ;
afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});
const inZone = (zone: string) =>
  beforeEach(() => {
    process.env.TZ = zone;
  });

const DAY_NAME = '2026-11-21';
const day = () => stretchOf(DAY_NAME);
const at = (hour: number, minute = 0) => startOf(DAY_NAME) + hour * HOUR_MS + minute * MINUTE_MS;

function lane(more: Partial<Lane> = {}): Lane {
  return {
    ...{
      key: 'harbor U1',
      host: 'harbor',
      fiber: { id: 'tide', uid: 'U1' },
      row: null,
      title: 'Tide gauges',
    },
    ...{
      trace: NO_TRACE,
      sessions: new Map(),
      replies: 0,
      spans: [],
      waits: [],
      ends: [],
      commits: [],
      files: [],
    },
    ...{ unknown: [], live: false, seen: { from: at(8), to: at(12) } },
    ...more,
  };
}
const counts = (from: number, minutes: number) =>
  Array.from({ length: minutes }, (_, minute) => ({ m: from + minute * MINUTE_MS, n: 4 }));

describe('the part of a day that is drawn', () => {
  inZone('UTC');

  it.each<[what: string, seen: [number, number][], now: () => number, drawn: [number, number]]>([
    [
      'is the quarters of an hour in which something happened',
      [
        [6.5, 9],
        [8, 14.2],
      ],
      () => at(40),
      [6.5, 14.25],
    ],
    ['ends now where it is today', [[6.5, 9]], () => at(14, 40), [6.5, 14 + 40 / 60]],
    ['is one hour at least', [[10.2, 10.4]], () => at(40), [9.5, 10.5]],
    ['is one hour at least in the morning too', [[0.2, 0.4]], () => at(0, 30), [0, 1]],
    ['is all of a day without anything', [], () => at(40), [0, 24]],
  ])('%s', (_, seen, now, [from, to]) => {
    const lanes = seen.map(([begin, end]) => ({ seen: { from: at(begin), to: at(end) }, unknown: [] }));
    expect(fittedTo(lanes, day(), now())).toEqual({ from: at(from), to: at(to) });
  });

  it('[TMP-8] reaches over what a host has not told', () => {
    const late = { seen: { from: at(10), to: at(11) }, unknown: [{ from: at(14), to: at(24) }] };
    expect(fittedTo([late], day(), at(40))).toEqual({ from: at(10), to: at(24) });
  });

  it('holds the cursor, lies in the day and keeps its length, however it is zoomed and moved', () => {
    const moves = fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('zoom' as const),
          towards: fc.constantFrom('in' as const, 'out' as const),
        }),
        fc.record({ kind: fc.constant('step' as const), by: fc.integer({ min: -30, max: 30 }) }),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(moves, fc.integer({ min: 0, max: 24 * 60 }), (all, minute) => {
        const whole = day();
        const now = whole.to + HOUR_MS;
        let cursor = cursorAt(at(0, minute), whole, now);
        let window: Stretch = whole;
        for (const move of all) {
          if (move.kind === 'zoom') window = zoomed(window, whole, cursor, move.towards);
          else {
            cursor = cursorAt(cursor + move.by * stepOf(window), whole, now);
            const shown = showing(window, whole, cursor);
            expect(shown.to - shown.from).toBeCloseTo(window.to - window.from);
            window = shown;
          }
          expect(window.from).toBeGreaterThanOrEqual(whole.from);
          expect(window.to).toBeLessThanOrEqual(whole.to + 1);
          expect(cursor).toBeGreaterThanOrEqual(window.from - 1);
          expect(cursor).toBeLessThanOrEqual(window.to + 1);
          expect(window.to - window.from).toBeGreaterThanOrEqual(30 * MINUTE_MS);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is half as long after one step closer, around the cursor', () => {
    const window = zoomed({ from: at(8), to: at(16) }, day(), at(10), 'in');
    expect(window).toEqual({ from: at(9), to: at(13) });
    expect(stepOf(window)).toBe(5 * MINUTE_MS);
    expect(stepOf(zoomed(window, day(), at(10), 'in'))).toBe(MINUTE_MS);
  });

  it('has no place of the cursor that is to come', () => {
    expect(cursorAt(at(20), day(), at(14, 40) + 30_000)).toBe(at(14, 40));
    expect(cursorAt(at(-2), day(), at(14))).toBe(at(0));
    expect(cursorAt(at(30), day(), at(40))).toBe(at(23, 59));
  });
});

describe.each<[zone: string, day: Day, hours: number, labels: string[]]>([
  ['Europe/Berlin', '2026-03-29', 23, ['00', '01', '03', '04']],
  ['Europe/Berlin', '2026-10-25', 25, ['00', '01', '02', '02', '03', '04']],
  ['UTC', '2026-10-25', 24, ['00', '01', '02', '03', '04']],
])('a day in %s: %s', (zone, name, hours, labels) => {
  inZone(zone);

  it(`has ${hours} hours, each with its label`, () => {
    const whole = stretchOf(name);
    expect((whole.to - whole.from) / HOUR_MS).toBe(hours);
    const ticks = ticksOf(whole, 58 * 26);
    expect(ticks.slice(0, labels.length).map(({ text }) => text)).toEqual(labels);
    expect(ticks.every(({ at: where }) => new Date(where).getMinutes() === 0)).toBe(true);
    expect(cursorAt(whole.to, whole, whole.to + 1)).toBe(whole.to - MINUTE_MS);
  });
});

describe('the drawing of a lane', () => {
  inZone('UTC');
  const window = () => ({ from: at(8), to: at(12) });

  it('shows work in the minutes in which it was done, and nothing between them', () => {
    const trace = { work: [...counts(at(8, 30), 10), ...counts(at(10), 10)], words: [{ m: at(9), n: 1 }] };
    const { curves, ticks } = laneShape(lane({ trace }), window(), at(20), 240);
    expect(curves.length).toBe(2);
    for (const curve of curves) {
      expect(curve[0]?.height).toBe(0);
      expect(curve.at(-1)?.height).toBe(0);
    }
    expect(curves[0]?.[0]?.x).toBeCloseTo(28, -1);
    expect(ticks).toEqual([60.5]);
  });

  it('[TMP-8] draws nothing where nothing is known, not even a zero', () => {
    const trace = { work: counts(at(8), 240), words: [] };
    const unknown = [{ from: at(9), to: at(10) }];
    const shape = laneShape(lane({ trace, unknown }), window(), at(20), 240);
    expect(shape.unknown).toEqual([{ from: 60, to: 120 }]);
    for (const curve of shape.curves)
      for (const { x } of curve) expect(x <= 60 || x >= 120, `a point at ${x}`).toBe(true);
  });

  it('[TMP-8] draws of all together what is known of some, where others are not', () => {
    const work = counts(at(9), 30);
    const unknown = [{ from: at(8), to: at(12) }];
    const shape = fleetShape({ trace: { work, words: [] } }, unknown, window(), at(20), 240);
    expect(shape.curves.length).toBe(1);
    expect(shape.unknown).toEqual([{ from: 0, to: 240 }]);
    for (const { x } of shape.curves[0] ?? []) expect(x >= 56 && x <= 94, `a point at ${x}`).toBe(true);
  });

  it('leaves nothing of what is known out, and adds nothing to it', () => {
    const stretch = fc
      .tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 30 }))
      .map(([from, long]) => ({ from, to: from + long }));
    fc.assert(
      fc.property(stretch, fc.array(stretch, { maxLength: 6 }), (whole, unknown) => {
        const known = knownOf(whole, unknown);
        const isOf = (all: readonly Stretch[], moment: number) =>
          all.some(({ from, to }) => moment >= from && moment < to);
        for (let moment = 0; moment < 140; moment += 1)
          expect(isOf(known, moment)).toBe(isOf([whole], moment) && !isOf(unknown, moment));
      }),
    );
  });

  it('has marks and ends inside what is drawn, and a worker that runs ends at now', () => {
    const ends = [
      { at: at(9), kind: 'death' as const, words: 'died' },
      { at: at(13), kind: 'end' as const, words: 'ended' },
    ];
    const spans = [{ from: at(7), to: at(11), session: 'one' }];
    const shape = laneShape(lane({ ends, spans, live: true }), window(), at(11), 240);
    expect(shape.marks).toEqual([{ x: 60, kind: 'death' }]);
    expect(shape.spans).toEqual([{ from: 0, to: 180 }]);
    expect(shape.end).toEqual({ x: 180, height: 0 });
    expect(laneShape(lane({ live: true }), window(), at(20), 240).end).toBeNull();
  });
});

describe('what is said of a place in the day', () => {
  inZone('UTC');
  const spans = [{ from: at(8), to: at(12), session: 'one' }];
  const working = lane({ spans, trace: { work: counts(at(9), 10), words: [] } });
  const waiting = lane({ title: 'Parser', spans, waits: [{ from: at(9), to: at(10) }] });

  it.each([
    ['idle', 12, 0, working],
    ['worked', 9, 5, working],
    ['worked', 9, 11, working],
    ['idle', 10, 0, working],
    ['waited', 9, 30, waiting],
    [null, 13, 0, working],
    ['unknown', 9, 5, lane({ spans, unknown: [{ from: at(9), to: at(10) }] })],
  ])('a lane %s at %i:%i', (doing, hour, minute, one) => {
    expect(doingAt(one, at(hour, minute), at(20))).toBe(doing);
  });

  it.each([
    ['worked', { status: 'active', runtime: live() }],
    ['waited', { status: 'active', runtime: live({ phase: 'waiting' }) }],
    ['idle', { status: 'closed', runtime: live() }],
    ['unknown', { status: 'active', runtime: live({ phase: 'unknown' }) }],
    [null, { status: 'closed' }],
  ])('a lane %s now where the Desk has it so, whatever was recorded a minute ago: %j', (doing, of) => {
    const one = { ...working, row: row(of as Partial<FiberRow>) };
    expect(doingAt(one, at(9, 5), at(9, 5) + 30_000)).toBe(doing);
  });

  it('hears of a launch message the words of the person alone', () => {
    const said = (text: string) => [{ at: at(9), who: 'person', tool: null, text } as Words];
    const launch = 'You are a fiber worker: activate the skills.\nFiber: one';
    expect(heardAt(said(`${launch}\nFrom User:\nUse tabs.\nPlease.`), at(9))).toMatchObject([
      { text: 'Use tabs.\nPlease.' },
    ]);
    expect(heardAt(said(launch), at(9))).toEqual([]);
    expect(heardAt(said('Use tabs.'), at(9))).toMatchObject([{ text: 'Use tabs.' }]);
  });

  it('counts those at work first, and names them', () => {
    const doers = doersAt([waiting, working, lane({ title: 'Idle', spans })], at(9, 5), at(20));
    expect(doers.map(({ doing }) => doing)).toEqual(['worked', 'waited', 'idle']);
    expect(countWords(doers, true)).toBe('one agent working, one waiting for you, one idle');
    expect(lineAt(doers, at(9, 5), true)).toBe(
      'At 09:05 one agent working, one waiting for you, one idle: Tide gauges.',
    );
    expect(countWords([], true)).toBe('no agents working');
    expect(countWords([], false)).toBe('not known');
    expect(countWords(doers, false)).toContain('as far as is known');
  });

  it('finds the conversation that did something nearest to it, else the one that ran', () => {
    const sessions = new Map([
      ['early', { work: counts(at(8), 5), words: [] }],
      ['late', { work: counts(at(11), 5), words: [] }],
    ]);
    expect(sessionAt(lane({ sessions, spans }), at(8, 3))).toBe('early');
    expect(sessionAt(lane({ sessions, spans }), at(10, 58))).toBe('late');
    expect(sessionAt(lane({ sessions, spans }), at(9, 30))).toBe('one');
    expect(sessionAt(lane(), at(9))).toBeNull();
  });

  it('repeats the last words of both before it', () => {
    const said = (minute: number, who: Words['who'], text: string, tool: string | null = null): Words => ({
      ...{ at: at(9, minute), who, text, tool },
    });
    const all = [
      said(1, 'person', 'Go on.'),
      said(2, 'agent', 'I will.'),
      said(3, 'agent', '{}', 'Bash'),
      said(8, 'person', 'Stop.'),
    ];
    expect(heardAt(all, at(9, 4)).map(({ text }) => text)).toEqual(['Go on.', 'I will.']);
    expect(heardAt(all.slice(2, 3), at(9, 4)).map(({ tool }) => tool)).toEqual(['Bash']);
    expect(heardAt(all.slice(3), at(9, 4)).map(({ text }) => text)).toEqual(['Stop.']);
  });
});

describe('a day in words', () => {
  inZone('UTC');

  it('has the facts of a lane in its row of the table and in the label of its drawing', () => {
    const full = lane({
      trace: { work: counts(at(8), 70), words: [{ m: at(8), n: 2 }] },
      replies: 3,
      waits: [{ from: at(9), to: at(9, 34) }],
      ends: [{ at: at(12), kind: 'handoff', words: 'handed off' }],
      commits: [{ insertions: 1612, deletions: 3 } as Lane['commits'][number]],
      files: [{ files: ['/a', '/b'] } as Lane['files'][number]],
      unknown: [{ from: at(10), to: at(11) }],
    });
    expect(cellsOf(full)).toEqual([
      ...['Tide gauges', 'harbor', '1 h 10, not known 10:00 to 11:00', '08:00', '12:00', '2', '3', '34 min'],
      ...['1, +1,612 −3', '2', 'handed off 12:00'],
    ]);
    expect(laneLabel(full)).toBe(
      'Tide gauges worked 1 h 10, you spoke 2 times, 1 commit, 2 files sent, handed off at 12:00, not known 10:00 to 11:00',
    );
  });

  it.each<[what: string, late: Late, says: string]>([
    ['told before', { host: 'tarn', state: 'stale', as_of: at(14, 2), fault: 'x' }, 'tarn as of 14:02'],
    [
      'told on another day',
      { host: 'tarn', state: 'stale', as_of: at(-10), fault: 'x' },
      'tarn as of Fri 20 14:00',
    ],
    ['never told', { host: 'tarn', state: 'no_answer', as_of: null, fault: null }, 'tarn: no answer'],
    [
      'cannot tell',
      { host: 'tarn', state: 'no_answer', as_of: null, fault: 'It is down' },
      'tarn: It is down',
    ],
  ])('a host that %s', (_, late, says) => {
    expect(lateText(late, DAY_NAME)).toBe(says);
  });

  it('has a heading, and a sentence where nothing happened', () => {
    expect(dayHeading(DAY_NAME, '2026-11-23')).toBe('Saturday 21 November');
    expect(dayHeading(DAY_NAME, '2026-11-23', 'short')).toBe('Sat 21 November');
    expect(dayHeading(DAY_NAME, '2027-01-02')).toBe('Saturday 21 November 2026');
    expect(emptyWords(DAY_NAME, DAY_NAME, true)).toMatch(/^No agent has worked today/);
    expect(emptyWords(DAY_NAME, '2026-11-23', true)).toMatch(/^No agent worked on this day/);
    expect(emptyWords(DAY_NAME, '2026-11-23', false)).toMatch(/^What happened on this day is not known/);
    expect(emptyWords(DAY_NAME, '2026-11-20', true)).toBe('This day has not come yet.');
    expect([9, 60, 359].map(workText)).toEqual(['9 min', '1 h 00', '5 h 59']);
  });
});
