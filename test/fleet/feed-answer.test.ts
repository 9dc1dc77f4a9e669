import { describe, expect, it } from 'vitest';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

describe('the answer of another host about its feed', () => {
  const row = toldRow('a', { later: { than: ['this', 'build'] } });

  it('is all of its rows, or what changed, each row with all that it has', () => {
    const told = { path: row.path, id: 'a', store: '/s', json: JSON.stringify(row) };
    const head = { host: 'host-b', state: 'fresh', generated_at: 7, tag: 't-1' };
    expect(readFeedAnswer(toldWhole('host-b', 't-1', [row]))).toEqual({
      ...head,
      rows: [told],
      removed: null,
    });
    expect(readFeedAnswer(toldDelta('host-b', 't-1', [row], ['/x']))).toEqual({
      ...head,
      rows: [told],
      removed: ['/x'],
    });
    const { tag: _, whole: __, ...plain } = toldWhole('host-b', null, []);
    expect(readFeedAnswer(plain)).toEqual({ ...head, tag: null, rows: [], removed: null });
  });

  it.each([
    ['no object', null],
    ['a list', [row]],
    ['no rows', { host: 'host-b', state: 'fresh', generated_at: 7, tag: null }],
    ['rows that are none', toldWhole('host-b', 't', [7 as never])],
    ['a row that is null', toldWhole('host-b', 't', [null as never])],
    ['a row without its path', toldWhole('host-b', 't', [{ ...row, path: undefined }])],
    ['a row with another kind of id', toldWhole('host-b', 't', [{ ...row, id: 5 }])],
    ['a row whose tags are none', toldDelta('host-b', 't', [{ ...row, tags: [{}] }])],
    ['a state of another kind', toldWhole('host-b', 't', [], { state: 'ready' })],
    ['a tag without end', toldWhole('host-b', 'x'.repeat(10_000), [])],
    ['removed rows that are no paths', toldDelta('host-b', 't', [], [{} as never])],
    ['rows nested without end', toldWhole('host-b', 't', [toldRow('a', { deep: nested(20_000) })])],
  ])('is refused with %s', (_, value) => {
    expect(() => readFeedAnswer(value)).toThrow();
  });
});

function nested(depth: number): unknown {
  let value: unknown = null;
  for (let at = 0; at < depth; at += 1) value = [value];
  return value;
}
