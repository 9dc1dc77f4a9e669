import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areaPath, linePath, type Point } from '../../../board/src/model/curve.ts';

const pointsInOrder = fc
  .array(fc.record({ x: fc.integer({ min: 0, max: 1_000 }), y: fc.integer({ min: 0, max: 60 }) }), {
    minLength: 2,
    maxLength: 30,
  })
  .map((points) => points.toSorted((a, b) => a.x - b.x));

const numbersOf = (path: string) => (path.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number);

/** The heights of one piece of the line at 20 places. */
function heightsOf(y0: number, y1: number, y2: number, y3: number): number[] {
  return Array.from({ length: 21 }, (_, step) => {
    const t = step / 20;
    return (1 - t) ** 3 * y0 + 3 * (1 - t) ** 2 * t * y1 + 3 * (1 - t) * t ** 2 * y2 + t ** 3 * y3;
  });
}

describe('a line through measured points', () => {
  it('passes through each point, and stays between the heights of two neighbours', () => {
    fc.assert(
      fc.property(pointsInOrder, (points) => {
        const [start, ...pieces] = linePath(points).split('C');
        expect(numbersOf(start ?? '')).toEqual([points[0]?.x, points[0]?.y]);
        expect(pieces).toHaveLength(points.length - 1);
        pieces.forEach((piece, index) => {
          const [, y1 = 0, , y2 = 0, x3, y3 = 0] = numbersOf(piece);
          const [from, to] = [points[index] as Point, points[index + 1] as Point];
          expect([x3, y3]).toEqual([to.x, to.y]);
          const heights = heightsOf(from.y, y1, y2, y3);
          expect(Math.min(...heights)).toBeGreaterThanOrEqual(Math.min(from.y, to.y) - 1e-6);
          expect(Math.max(...heights)).toBeLessThanOrEqual(Math.max(from.y, to.y) + 1e-6);
        });
      }),
    );
  });

  it.each([
    { points: [], line: '', area: '' },
    { points: [{ x: 1, y: 2 }], line: 'M1 2', area: 'M1 2L1 9H1Z' },
    {
      points: [
        { x: 0, y: 0 },
        { x: 3, y: 6 },
      ],
      line: 'M0 0C1 2 2 4 3 6',
      area: 'M0 0C1 2 2 4 3 6L3 9H0Z',
    },
  ])('of $points is $line', ({ points, line, area }) => {
    expect(linePath(points)).toBe(line);
    expect(areaPath(points, 9)).toBe(area);
  });
});
