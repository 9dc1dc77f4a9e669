import { describe, expect, it } from 'vitest';
import type { RunView } from '../../../src/contract/fiber.ts';
import { givesPlaceUpAt, hasPlace } from '../../../src/dispatch/due/places.ts';

describe('a place among the workers', () => {
  it.each<[RunView['phase'], number | null, number]>([
    ['working', 100, Number.POSITIVE_INFINITY],
    ['unknown', null, Number.POSITIVE_INFINITY],
    ['waiting', 100, 160],
    ['idle', 100, 160],
    ['attention', 100, 160],
    ['idle', null, Number.POSITIVE_INFINITY],
  ])('of a worker that is %s since %s is given up at %s', (phase, phase_since, at) => {
    expect(givesPlaceUpAt({ phase, phase_since }, 60)).toBe(at);
  });

  it.each([
    [{ count: 9, resting: 0, most: null }, true],
    [{ count: 2, resting: 0, most: 2 }, false],
    [{ count: 2, resting: 1, most: 2 }, true],
    [{ count: 5, resting: 2, most: 2 }, false],
  ])('is free with %o: %s', (places, free) => {
    expect(hasPlace(places)).toBe(free);
  });
});
