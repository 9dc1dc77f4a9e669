import { CardCache, deskOf } from '../../board/src/model/desk.ts';
import { applyAnswer } from '../../board/src/model/feed-copy.ts';
import type { FibersComposite } from '../../board/src/model/wire.ts';

const TIMES = 15;
const TODAY = '2026-03-01';

/**
 * Milliseconds (median) that a page needs for a whole feed of which one row in a hundred changed, once it is parsed:
 * the copy after it and what the Desk shows of that.
 */
export async function measure(): Promise<number> {
  const text = await (await fetch('/api/v1/fibers/composite?since=')).text();
  const cache = new CardCache();
  let copy = applyAnswer(null, JSON.parse(text) as FibersComposite);
  deskOf(copy, TODAY, cache);
  const spent: number[] = [];
  for (let round = 1; round <= TIMES; round += 1) {
    const feed = JSON.parse(text) as FibersComposite;
    const read = feed.origins[feed.host]?.read;
    if (read == null || !('whole' in read)) throw new Error('the feed is not whole');
    for (let at = round; at < read.fibers.length; at += 100)
      read.fibers[at] = { ...read.fibers[at]!, digest: `${round}`, outcome: `Round ${round}.` };
    const from = performance.now();
    copy = applyAnswer(copy, feed);
    deskOf(copy, TODAY, cache);
    spent.push(performance.now() - from);
  }
  return spent.sort((a, b) => a - b)[Math.floor(TIMES / 2)]!;
}
