import { type Clock, sleep } from '../../../base/clock.ts';
import { isCoded } from '../../../base/errors.ts';
import { type Life, lifeSchema, MOST_ENTRIES } from '../../../contract/http/life.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';

/** A fiber, and since when its commits are counted, in milliseconds since the Unix epoch; 0 for all. */
export type Counted = { fiber_id: string; uid: string; since: number };

/**
 * How many commits the sessions of these fibers made, by fiber; from the ledgers, so that no Git runs. One whose commits are not
 * all told is left out, and all are where the answers take longer than `most_ms`.
 */
export async function countCommits(
  daemon: Pick<DaemonClient, 'get'>,
  asked: readonly Counted[],
  { clock, most_ms }: { clock: Clock; most_ms: number },
): Promise<ReadonlyMap<string, number>> {
  const answers = Promise.all(
    asked.map(async ({ fiber_id, uid, since }): Promise<[string, number | null]> => {
      try {
        const query = `uid=${encodeURIComponent(uid)}&limit=${MOST_ENTRIES}`;
        return [fiber_id, commitsIn(await daemon.get(`/fiber-life?${query}`, lifeSchema), since)];
      } catch (error) {
        if (!isCoded(error)) throw error;
        return [fiber_id, null];
      }
    }),
  );
  const told = await Promise.race([answers, sleep(clock, most_ms).then(() => [])]);
  return new Map(told.flatMap(([id, count]): [string, number][] => (count === null ? [] : [[id, count]])));
}

/** Null where older entries than these may be commits too. */
function commitsIn({ entries, earlier }: Pick<Life, 'entries' | 'earlier'>, since: number): number | null {
  if (earlier > 0 && (entries[0]?.at ?? since) >= since) return null;
  return entries.filter(({ kind, at }) => kind === 'commit' && at >= since).length;
}
