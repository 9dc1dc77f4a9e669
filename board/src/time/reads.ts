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
  const begun = reads.map(({ read }) => read.from_ms);
  return { from: Math.min(...begun), to, buckets: reads.flatMap(({ read }) => read.buckets) };
}

/** A window of whole minutes, since only those are answered. */
export function activityPath({ from, to }: Stretch): string {
  const [from_ms, to_ms] = [Math.floor(from / MINUTE_MS) * MINUTE_MS, Math.ceil(to / MINUTE_MS) * MINUTE_MS];
  return `/activity/composite?from_ms=${from_ms}&to_ms=${to_ms}`;
}
