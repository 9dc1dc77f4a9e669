import { describe, expect, it } from 'vitest';
import { keptTexts } from '../../../board/src/model/kept-texts.ts';

describe('what was written for a fiber that cannot be shown', () => {
  const drafts: [string, unknown][] = [
    ['draft body u1', { text: 'a body', fiber: 'a/b' }],
    ['draft reply u1', { text: 'a message', fiber: 'a/b', images: [] }],
    ['draft body u1 far', { text: 'a body elsewhere', fiber: 'a/b' }],
    ['draft reply a/b', { text: 'without a uid' }],
    ['draft body u2', { text: 'of another', fiber: 'c' }],
    ['draft reply u3', { text: '', fiber: 'a/b' }],
    ['draft reply u4', 'broken'],
    ['task-draft', { text: 'a task', fiber: 'a/b' }],
    ['draft other u1', { text: 'no text', fiber: 'a/b' }],
    ['draft body u5', null],
    ['draft body my notes', { text: 'with spaces', fiber: 'my notes' }],
    ['draft body my notes far', { text: 'with spaces elsewhere', fiber: 'my notes' }],
  ];
  it.each<[string, string, string | null, string[]]>([
    ['by its id', 'a/b', null, ['draft body u1', 'draft reply u1', 'draft reply a/b']],
    ['by its uid', 'u1', null, ['draft body u1', 'draft reply u1']],
    ['on another host', 'a/b', 'far', ['draft body u1 far']],
    ['on a host without any', 'a/b', 'near', []],
    ['of a fiber without any', 'z', null, []],
    ['by an id with spaces', 'my notes', null, ['draft body my notes']],
    ['by an id with spaces on another host', 'my notes', 'far', ['draft body my notes far']],
  ])('is found %s', (_, fiber, origin, keys) => {
    expect(keptTexts(drafts, fiber, origin).map(({ key }) => key)).toEqual(keys);
  });
});
