import { describe, expect, it } from 'vitest';
import { afterwards } from '../../../src/dispatch/requests/concluded-first.ts';

describe('two changes of a document as one', () => {
  it.each([
    [
      'the later value counts',
      { set: { status: 'closed' }, unset: [] },
      { set: { status: 'active' }, unset: [] },
      { set: { status: 'active' }, unset: [] },
    ],
    [
      'what the second takes away, the first does not set',
      { set: { 'closed-at': 'now', status: 'closed' }, unset: [] },
      { set: {}, unset: ['closed-at'] },
      { set: { status: 'closed' }, unset: ['closed-at'] },
    ],
    [
      'what the second sets, the first does not take away',
      { set: {}, unset: ['tempered', 'tags'] },
      { set: { tempered: true }, unset: ['tags'] },
      { set: { tempered: true }, unset: ['tags'] },
    ],
  ])('%s', (_, first, second, both) => {
    expect(afterwards(first, second)).toEqual(both);
  });
});
