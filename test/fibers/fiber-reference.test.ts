import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fibersCalled,
  fibersMeant,
  hintsAmong,
  noFiberCalled,
  severalCalled,
  shortestReference,
} from '../../src/fibers/fiber-reference.ts';

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

describe('the shortest beginning for a hint', () => {
  it.each([
    ['write-a-hello-md', ['write-a-hello-md'], 'write'],
    ['write-a-hello-md', ['write-a-hello-md', 'write-the-tests'], 'write-a'],
    ['write-a-hello-md', ['write-a-hello-md', 'write-a-hello-md-2'], 'write-a-hello-md'],
    ['go-on-then', ['go-on-then'], 'go-on'],
    ['fix', ['fix'], 'fix'],
    ['work/loader-tests', ['work/loader-tests', 'parser'], 'loader'],
    ['work/loader-tests', ['work/loader-tests', 'loader-tests'], 'work'],
  ])('%s among %j: %s', (id, ids, expected) => {
    expect(shortestReference(id, ids)).toBe(expected);
  });

  const part = fc.stringMatching(/^[a-c]{1,3}(-[a-c]{1,2}){0,2}$/);
  const id = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('/'));
  it('means that fiber, and no other', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 8 }), fc.nat(), (ids, n) => {
        const chosen = ids[n % ids.length]!;
        const fibers = ids.map((one) => ({ id: one, uid: null }));
        expect(fibersMeant(shortestReference(chosen, ids), fibers).map((one) => one.id)).toEqual([chosen]);
      }),
    );
  });
});

describe('a hint on a page of many fibers', () => {
  const LONG = 'rewrite-the-loader-for-all-formats';
  it.each([
    ['a short id, whole', 'release-notes', [], 'release-notes', 'release-notes'],
    ['the last part of an id with parts', 'work/tide-gauges', ['tide'], 'tide-gauges', 'tide-gauges'],
    ['the id, where another has that last part', 'work/parser', ['old/parser'], 'work/parser', 'work/parser'],
    ['the beginning of a long id, where there is no other host', LONG, ['parser'], 'rewrite', LONG],
    ['a longer one, where another begins so', LONG, ['rewrite-it'], 'rewrite-the', LONG],
    ['of a long last part the same, else that part', `work/${LONG}`, [], 'rewrite', LONG],
    ['no uid', `work/${UID}`, [], 'work', `work/${UID}`],
  ])('is %s: %s', (_, id, others, alone, beside) => {
    const fibers = [id, ...others].map((one) => ({ id: one }));
    expect([hintsAmong(fibers, { alone: true })(id), hintsAmong(fibers, { alone: false })(id)]).toEqual([
      alone,
      beside,
    ]);
  });

  const word = fc.constantFrom(
    'a',
    'ab',
    'loader',
    'release-notes',
    'rewrite-the-loader',
    'formats-and-more',
    UID,
  );
  const id = fc
    .array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map((words) => words.join('-')).join('/'));
  const uid = fc.constantFrom(null, UID);
  it('means that fiber and no other, whether a person is asked or a daemon, which knows no beginnings', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ id, uid }), { selector: (one) => one.id, minLength: 1, maxLength: 12 }),
        (fibers) => {
          for (const { id: chosen } of fibers) {
            const alone = hintsAmong(fibers, { alone: true })(chosen);
            expect(fibersMeant(alone, fibers).map((one) => one.id)).toEqual([chosen]);
            const beside = hintsAmong(fibers, { alone: false })(chosen);
            expect(fibersMeant(beside, fibers).map((one) => one.id)).toEqual([chosen]);
            expect([chosen, chosen.slice(chosen.lastIndexOf('/') + 1)]).toContain(beside);
            expect(alone.length).toBeLessThanOrEqual(chosen.length);
          }
        },
      ),
    );
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
