/** Exponential back-off: `first`, doubled each failure, never above `most` (milliseconds). */
export type BackoffPolicy = { first: number; most: number };

/** The wait before try number `failures + 1`; 0 when nothing has failed yet. */
export function backoffDelay(policy: BackoffPolicy, failures: number): number {
  if (failures <= 0) return 0;
  return Math.min(policy.most, policy.first * 2 ** Math.min(failures - 1, 30));
}
