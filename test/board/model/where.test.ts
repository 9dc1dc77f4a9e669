import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWhere, printWhere, VIEWS, type Where } from '../../../board/src/model/where.ts';

const DESK: Where = {
  ...{ view: 'desk', fiber: null, origin: null, sheet: null, day: null, part: null, q: null },
  ...{ filter: null, group: null },
};

describe('the address of a place of the board', () => {
  it('is empty for the Desk', () => {
    expect(printWhere(DESK)).toBe('');
    expect(parseWhere('')).toEqual(DESK);
  });

  it('leaves out what names no place', () => {
    expect(parseWhere('?view=attic&sheet=bed&d=2026-02-31&fiber=&group=colour&filter=&x=1')).toEqual(DESK);
  });

  it('leads back to the same place', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1 });
    const place: fc.Arbitrary<Where> = fc.record({
      view: fc.constantFrom(...VIEWS),
      fiber: fc.option(id),
      origin: fc.option(id),
      sheet: fc.constantFrom(null, 'find', 'stash'),
      day: fc.option(fc.constantFrom('2026-11-23', '2024-02-29')),
      part: fc.option(id),
      q: fc.option(id),
      filter: fc.option(id),
      group: fc.constantFrom(null, 'project', 'agent', 'host'),
    });
    fc.assert(
      fc.property(place, (where) => {
        const q = where.sheet === 'find' ? where.q : null;
        const origin = where.fiber === null ? null : where.origin;
        expect(parseWhere(printWhere(where))).toEqual({ ...where, origin, q });
      }),
    );
  });
});
