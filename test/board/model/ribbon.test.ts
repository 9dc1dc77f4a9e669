import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, type Trace } from '../../../board/src/model/activity.ts';
import { cardOf } from '../../../board/src/model/card.ts';
import { startOf } from '../../../board/src/model/days.ts';
import { type Launch, launchesOf, pinWords, ribbonShape } from '../../../board/src/model/ribbon.ts';
import { armed, live, row } from './rows.ts';

const NOW = startOf('2026-11-23') + 14 * HOUR_MS;
const WIDTH = 1_440;
const ago = (minutes: number) => NOW - minutes * MINUTE_MS;
const launch = (title: string, hours: number): Launch => ({
  origin: 'host-a',
  id: title,
  title,
  at: NOW + hours * HOUR_MS,
});
const nothing: Trace = { work: [], words: [] };
const read = (all: Trace = nothing, of = {}) => ({
  known: { from: ago(240), to: NOW, buckets: [], ...of },
  all,
});
const pins = (...launches: Launch[]) => ribbonShape(read(), launches, NOW, WIDTH).pins;

describe('the ribbon', () => {
  it('joins four hours that are gone to twenty that come', () => {
    const { now, hours, tomorrow } = ribbonShape(read(), [], NOW, WIDTH);
    expect(now).toBe(WIDTH / 6);
    expect(hours.map(({ text }) => text)).toEqual(['12', '15', '18', '21', '00', '03', '06', '09']);
    expect(tomorrow).toEqual({
      x: WIDTH / 6 + 10 * 60,
      name: { x: WIDTH / 6 + 10 * 60 + 7, text: 'Tue 24' },
    });
  });

  it('writes the name of the next day beside the words of now shortly before midnight, and nowhere at the end', () => {
    const at = (hour: number) => ribbonShape(read(), [], NOW + (hour - 14) * HOUR_MS, WIDTH).tomorrow;
    expect(at(23.5)).toEqual({ x: WIDTH / 6 + 30, name: { x: WIDTH / 6 + 76, text: 'Tue 24' } });
    expect(at(4.5)).toEqual({ x: WIDTH / 6 + 19.5 * 60, name: null });
  });

  it('shows what agents did up to now, against the most of it, and the words of a person', () => {
    const work = [
      { m: ago(120), n: 9 },
      { m: ago(60), n: 90 },
    ];
    const { curve, ticks, unknown, label } = ribbonShape(
      read({ work, words: [{ m: ago(30), n: 2 }] }),
      [],
      NOW,
      WIDTH,
    );
    const highest = curve.reduce((high, one) => (one.height > high.height ? one : high));
    expect(highest).toEqual({ x: 180.5, height: 1 });
    expect(curve.at(-1)?.x).toBeLessThanOrEqual(WIDTH / 6);
    expect({ ticks, unknown }).toEqual({ ticks: [210.5], unknown: [] });
    expect(label).toBe('The past 4 hours: agents were active in 2 minutes, you spoke 2 times.');
  });

  it('tells what was not read from what did not happen', () => {
    expect(ribbonShape(read(nothing, { from: ago(60), to: ago(30) }), [], NOW, WIDTH).unknown).toEqual([
      { from: 0, to: 180 },
      { from: 210, to: 240 },
    ]);
    expect(ribbonShape(null, [], NOW, WIDTH)).toMatchObject({
      ...{ curve: [], unknown: [] },
      label: 'The past 4 hours are not read yet.',
    });
  });

  it('pins each launch to its time, and leaves out later ones', () => {
    expect(pins(launch('Sweep', 2), launch('Audit', 7), launch('Later', 21))).toEqual([
      { x: 360, launches: [launch('Sweep', 2)], label: 'Sweep', row: 0, toward: 'right' },
      { x: 660, launches: [launch('Audit', 7)], label: 'Audit', row: 0, toward: 'right' },
    ]);
  });

  it('has launches of one time share a pin', () => {
    const [pin, ...others] = pins(launch('Second', 2.1), launch('First', 2));
    expect(others).toEqual([]);
    expect(pin?.label).toBe('First +1');
    expect(pinWords(pin?.launches ?? [])).toBe('First at 16:00, Second at 16:06');
  });

  it('writes a label above another one, or none where there is no room', () => {
    const near = [3, 3.5, 4, 4.5].map((hours) => launch('A long title of a role', hours));
    expect(pins(...near).map(({ row: at }) => at)).toEqual([0, 1, null, null]);
  });

  it('writes no label over the word beside now', () => {
    expect(pins(launch('Digest', 0))).toMatchObject([{ x: 240, row: null }]);
  });

  it('writes the label of the last one at its left', () => {
    expect(pins(launch('Weekly figures', 19.8))).toMatchObject([{ toward: 'left', row: 0 }]);
  });

  it('never writes one label over another, nor two pins on each other', () => {
    const launches = fc.array(
      fc.tuple(fc.string({ minLength: 1, maxLength: 30 }), fc.double({ min: 0, max: 20, noNaN: true })),
    );
    fc.assert(
      fc.property(launches, (all) => {
        const found = pins(...all.map(([title, hours]) => launch(title, hours)));
        found.forEach((pin, index) => {
          const before = found[index - 1];
          if (before !== undefined) expect(pin.x - before.x).toBeGreaterThanOrEqual(14);
        });
        const spans = found.flatMap(({ x, label, row: at, toward }) => {
          const long = label.length * 6.5;
          return at === null
            ? []
            : [{ at, from: toward === 'right' ? x : x - long, to: toward === 'right' ? x + long : x }];
        });
        for (const one of spans)
          for (const other of spans)
            if (one !== other && one.at === other.at)
              expect(one.to <= other.from || other.to <= one.from).toBe(true);
      }),
    );
  });

  it('takes its launches from the cards that the Desk lists', () => {
    const scheduled = row({
      ...armed,
      svc: { kind: 'standing', agent: 'atlas' },
      next_due_at: NOW,
      gate: 'due',
    });
    const running = row({
      ...{ id: 'two', name: 'Name of two', status: 'active', svc: { kind: 'standing' } },
      ...{ next_due_at: NOW, runtime: live() },
    });
    const cards = [scheduled, running, row({ id: 'draft' })].map((one) => cardOf(one, '2026-11-23'));
    expect(launchesOf(cards)).toEqual([
      { id: 'one', origin: 'host-a', title: 'Name of one', at: NOW },
      { id: 'two', origin: 'host-a', title: 'Name of two', at: NOW },
    ]);
  });
});
