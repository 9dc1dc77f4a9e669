import { get } from '../lib/api.ts';
import { MINUTE_MS, type Recorded, type Stretch } from '../model/activity.ts';
import type { Activity } from '../model/wire.ts';

/** The activity of a stretch up to the end of its last minute; null where it cannot be read now. */
export async function readActivity({ from, to }: Stretch): Promise<Recorded | null> {
  const answer = await get<Activity>(activityPath({ from, to }));
  if (!answer.ok) return null;
  const { from_ms, buckets } = answer.value;
  return { from: from_ms, to, buckets };
}

/** A window of whole minutes, since only those are answered. */
export function activityPath({ from, to }: Stretch): string {
  const [from_ms, to_ms] = [Math.floor(from / MINUTE_MS) * MINUTE_MS, Math.ceil(to / MINUTE_MS) * MINUTE_MS];
  return `/activity?from_ms=${from_ms}&to_ms=${to_ms}`;
}
