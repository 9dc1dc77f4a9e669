import { describe, expect, it } from 'vitest';
import { contextText } from '../../../../src/cli/verbs/status/context-text.ts';
import { fiberPage } from '../../../../src/cli/verbs/status/fiber-page.ts';
import { fiberAnswer, runningRow } from '../../answers.ts';

describe('how full a context is', () => {
  it.each([
    ['a share of a window whose size is known', { tokens: 157_000, most: 258_400 }, '61 %'],
    ['thousands of tokens in another', { tokens: 122_400, most: null }, '122 k'],
    ['nothing while it is not known', null, '-'],
    ['nothing of a host that does not tell', undefined, '-'],
  ])('is %s', (_, context, text) => expect(contextText(context)).toBe(text));

  it('is a line of the page of a fiber where it is known', () => {
    const pageOf = (context: { tokens: number; most: number } | null) =>
      fiberPage(fiberAnswer({ runtime: runningRow({ context }) }), Date.now());
    expect(pageOf({ tokens: 50_000, most: 200_000 })).toContain('  context   25 %\n');
    expect(pageOf(null)).not.toContain('context');
  });
});
