import { get } from '../lib/api.ts';
import { MINUTE_MS, type Recorded, type Stretch } from '../model/activity.ts';
import { readsOf } from '../model/composite.ts';
import type { Activity, Composite } from '../model/wire.ts';

/** The activity of all hosts in a stretch up to the end of its last minute; null where none can be read now. */
export async function readActivity({ from, to }: Stretch): Promise<Recorded | null> {
  const answer = await get<Composite<Activity>>(activityPath({ from, to }));
  if (!answer.ok) return null;
  const reads = readsOf(answer.value);
  if (reads.length === 0) return null;
  // Other hosts are asked for whole hours, and some tell of more than was asked for.
  const begun = Math.max(
    Math.floor(from / MINUTE_MS) * MINUTE_MS,
    Math.min(...reads.map(({ read }) => read.from_ms)),
  );
  const buckets = reads.flatMap(({ read }) => read.buckets.filter(({ m }) => m >= begun && m < to));
  return { from: begun, to, buckets };
}

/** A window of whole minutes, since only those are answered. */
export function activityPath({ from, to }: Stretch): string {
  const [from_ms, to_ms] = [Math.floor(from / MINUTE_MS) * MINUTE_MS, Math.ceil(to / MINUTE_MS) * MINUTE_MS];
  return `/activity/composite?from_ms=${from_ms}&to_ms=${to_ms}`;
}
