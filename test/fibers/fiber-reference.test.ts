import { describe, expect, it } from 'vitest';
import { fibersCalled, fibersMeant, noFiberCalled, severalCalled } from '../../src/fibers/fiber-reference.ts';

const UID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z';
const FIBERS = [
  { id: 'load', uid: null },
  { id: 'loader', uid: UID },
  { id: 'work/loader-tests', uid: null },
  { id: 'work/parser', uid: null },
  { id: 'old/parser', uid: null },
];
const meant = (reference: string) => fibersMeant(reference, FIBERS).map(({ id }) => id);

describe('the fibers that a reference means', () => {
  it.each([
    ['an id, though others begin so', 'load', ['load']],
    ['a uid in any case', UID.toLowerCase(), ['loader']],
    ['a last part', 'loader-tests', ['work/loader-tests']],
    ['a last part that several have', 'parser', ['work/parser', 'old/parser']],
    ['the beginning of an id', 'old/', ['old/parser']],
    ['the beginning of a last part', 'loader-t', ['work/loader-tests']],
    ['the beginning of several', 'loa', ['load', 'loader', 'work/loader-tests']],
    ['a part in the middle', 'tests', []],
    ['the beginning of a uid', UID.slice(0, 10), []],
  ])('%s', (_, reference, expected) => {
    expect(meant(reference)).toEqual(expected);
  });

  it.each([
    ['split', ['split-title']],
    ['split-title/', ['split-title/first', 'split-title/split-again']],
    ['fir', ['split-title/first']],
    ['spl', ['split-title', 'split-title/split-again']],
  ])('%s: one whose id begins so, not what is only below it', (reference, expected) => {
    const below = ['split-title', 'split-title/first', 'split-title/split-again'];
    const fibers = (reference === 'split' ? below.slice(0, 2) : below).map((id) => ({ id, uid: null }));
    expect(fibersMeant(reference, fibers).map(({ id }) => id)).toEqual(expected);
  });
});

it('a refusal asks for the fiber that was meant, or says where to look', () => {
  expect(noFiberCalled('relase-notes', ['work/release-notes'])).toBe(
    'no fiber is called relase-notes. Did you mean release-notes?',
  );
  expect(noFiberCalled('moss', ['loader'])).toBe('no fiber is called moss; svc fiber ls lists them');
  expect(severalCalled('p', ['a', 'b'])).toBe('p may be a or b; give more of the id, or the ULID');
  expect(severalCalled('p', ['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toContain('d, e or 2 more');
});

it('finds a fiber by its id in the other Unicode form', () => {
  const fiber = { id: 'x/cafe\u0301', uid: null };
  for (const reference of ['x/caf\u00e9', 'caf\u00e9'])
    expect(fibersCalled(reference, [fiber])).toEqual([fiber]);
});
