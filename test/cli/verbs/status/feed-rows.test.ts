import { describe, expect, it } from 'vitest';
import { FeedRows } from '../../../../src/cli/verbs/status/feed-rows.ts';

const row = (id: string, more: object = {}) => ({
  id,
  uid: null,
  path: `/s/${id}.md`,
  status: 'open',
  tags: [],
  ...more,
});

/** Gives the answers in turn, and keeps what was asked. */
function daemonOf(...answers: object[]) {
  const asked: string[] = [];
  const get = async (path: string, schema: { parse(value: unknown): unknown }) => {
    asked.push(path);
    return schema.parse(answers.shift());
  };
  return { asked, get: get as never };
}

describe('the rows of the feed', () => {
  it('are asked for whole once, and then as what changed', async () => {
    const feed = new FeedRows();
    const daemon = daemonOf(
      { tag: 't-1', whole: true, fibers: [row('a'), row('b')] },
      { tag: 't-1', rows: [], removed: [] },
      { tag: 't-2', rows: [row('a', { status: 'active' }), row('c')], removed: ['/s/b.md'] },
      { tag: 'n-1', whole: true, fibers: [row('d')] },
    );
    expect(await feed.update(daemon)).toBe(true);
    expect(await feed.update(daemon)).toBe(false);
    expect(await feed.read(daemon)).toMatchObject([{ id: 'a', status: 'active' }, { id: 'c' }]);
    expect(await feed.read(daemon)).toMatchObject([{ id: 'd' }]);
    expect(daemon.asked).toEqual(['', 't-1', 't-1', 't-2'].map((tag) => `/fibers?since=${tag}`));
  });

  it('are asked for whole again while the feed has no tag', async () => {
    const feed = new FeedRows();
    const daemon = daemonOf({ tag: null, fibers: [] }, { tag: null, fibers: [row('a')] });
    expect(await feed.read(daemon)).toEqual([]);
    expect(await feed.read(daemon)).toHaveLength(1);
    expect(daemon.asked).toEqual(['/fibers?since=', '/fibers?since=']);
  });
});
