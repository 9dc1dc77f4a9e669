import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ThreadWork } from '../../src/threads/thread-work.ts';
import { TimeHad } from '../../src/threads/time-had.ts';

const SECOND = 1_000;
/** What a thread did in one second: it ran, waited for the processor, or slept; and whether it is ready at the end of it. */
type Spell = { ran: number; waited: number; is_ready: boolean };

function timeHad(spells: readonly Spell[]): number {
  const time_had = new TimeHad(SECOND);
  const work: ThreadWork = { ran_ms: 7, waited_ms: 3, is_ready: false };
  time_had.look(0, { ...work });
  let had = 0;
  spells.forEach(({ ran, waited, is_ready }, nth) => {
    work.ran_ms += ran;
    work.waited_ms += waited;
    had = time_had.look((nth + 1) * SECOND, { ...work, is_ready });
  });
  return had;
}

const times = (spell: Spell, count: number) => Array.from({ length: count }, () => spell);

describe('the time that a thread has had', () => {
  it.each([
    ['sleeps in the kernel', times({ ran: 0, waited: 0, is_ready: false }, 5), 5_000],
    ['runs all the time', times({ ran: 1_000, waited: 0, is_ready: true }, 5), 5_000],
    ['never gets the processor', times({ ran: 0, waited: 0, is_ready: true }, 5), 0],
    ['gets a hundredth of it', times({ ran: 10, waited: 990, is_ready: true }, 5), 50],
    [
      'waits for the processor and is asleep when it is looked at',
      times({ ran: 10, waited: 900, is_ready: false }, 5),
      500,
    ],
    [
      'waits for the processor for so long that the kernel tells of it later',
      [...times({ ran: 0, waited: 0, is_ready: true }, 4), { ran: 1, waited: 4_500, is_ready: false }],
      1,
    ],
  ] as const)('of a thread that %s', (_, spells, expected) => {
    expect(timeHad(spells)).toBe(expected);
  });

  it('begins anew once it went on', () => {
    const time_had = new TimeHad(SECOND);
    const asleep = { ran_ms: 0, waited_ms: 0, is_ready: false };
    for (const at of [0, 1_000, 2_000]) time_had.look(at, asleep);
    time_had.reset();
    expect(time_had.look(3_000, asleep)).toBe(0);
    expect(time_had.look(4_000, asleep)).toBe(1_000);
  });

  it('is no longer than two looks where the process of both was stopped', () => {
    const time_had = new TimeHad(SECOND);
    const asleep = { ran_ms: 0, waited_ms: 0, is_ready: false };
    time_had.look(0, asleep);
    expect(time_had.look(3_600_000, asleep)).toBe(2_000);
  });

  it('is a tenth of what passed where the system tells nothing', () => {
    const time_had = new TimeHad(SECOND);
    time_had.look(0, null);
    time_had.look(1_000, { ran_ms: 5, waited_ms: 5, is_ready: true });
    expect(time_had.look(2_000, null)).toBe(200);
  });

  it('is never more than what passed without a wait for the processor, and never less than what it ran', () => {
    const spell = fc
      .record({ ran: fc.nat(1_000), waited: fc.nat(1_000), is_ready: fc.boolean() })
      .filter(({ ran, waited }) => ran + waited <= 1_000);
    fc.assert(
      fc.property(fc.array(spell, { maxLength: 30 }), (spells) => {
        const had = timeHad(spells);
        const ran = spells.reduce((sum, one) => sum + one.ran, 0);
        const waited = spells.reduce((sum, one) => sum + one.waited, 0);
        expect(had).toBeGreaterThanOrEqual(ran);
        expect(had).toBeLessThanOrEqual(spells.length * SECOND - waited);
      }),
    );
  });
});
