import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../src/base/clock.ts';
import { CodedError } from '../../../../src/base/errors.ts';
import { countCommits } from '../../../../src/cli/verbs/status/commit-counts.ts';
import type { Life, LifeEntry } from '../../../../src/contract/http/life.ts';

const commit = (at: number): LifeEntry => ({
  ...{ at, kind: 'commit', session: 's', sha: 'a'.repeat(40), subject: 'Step', repo: '/srv/dev' },
  ...{ files: 1, insertions: 1, deletions: 0 },
});
const prompt = (at: number): LifeEntry => ({ at, kind: 'prompts', session: 's', count: 1 });
const life = (uid: string, entries: LifeEntry[], earlier = 0): Life => ({ host: 'h', uid, entries, earlier });

/** A daemon that tells these lives, by their uids; of others it knows nothing. */
function daemonOf(lives: Record<string, Life | Promise<Life>>) {
  const asked: string[] = [];
  return {
    asked,
    get: async <T>(path: string): Promise<T> => {
      asked.push(path);
      const found = lives[/uid=(\w+)/.exec(path)?.[1] ?? ''];
      if (found === undefined) throw new CodedError('not_found', 'no such fiber');
      return (await found) as T;
    },
  };
}
const count = (daemon: ReturnType<typeof daemonOf>, uids: string[], since = 0, clock = new FakeClock()) =>
  countCommits(
    daemon,
    uids.map((uid) => ({ fiber_id: `fiber-${uid}`, uid, since })),
    { clock, most_ms: 300 },
  );

describe('the commits of fibers', () => {
  it.each<[string, Life, number, number | undefined]>([
    ['all, without what else happened', life('a', [commit(1), prompt(2), commit(3)]), 0, 2],
    ['none', life('a', [prompt(2)]), 0, 0],
    ['those since a time', life('a', [commit(1), commit(5), commit(9)]), 5, 2],
    ['those since a time, though older entries are left out', life('a', [commit(4), commit(9)], 7), 5, 1],
    ['not told, where older entries may be commits too', life('a', [commit(5), commit(9)], 7), 5, undefined],
    ['not told, where there are too many in all', life('a', [commit(5)], 7), 0, undefined],
  ])('are %s', async (_, told, since, expected) => {
    expect((await count(daemonOf({ a: told }), ['a'], since)).get('fiber-a')).toBe(expected);
  });

  it('are asked for once for each fiber, and one that is refused keeps none of the others back', async () => {
    const daemon = daemonOf({ a: life('a', [commit(1)]) });
    expect([...(await count(daemon, ['gone', 'a']))]).toEqual([['fiber-a', 1]]);
    expect(daemon.asked).toHaveLength(2);
  });

  it('are left out where the daemon takes too long', async () => {
    const clock = new FakeClock();
    const counted = count(daemonOf({ a: new Promise(() => {}) }), ['a'], 0, clock);
    clock.advance(300);
    expect([...(await counted)]).toEqual([]);
  });
});
