import { z } from 'zod';
import { timeSchema } from './bounded.ts';
import { compositeOf } from './composite.ts';

function isWindow({ from_ms, to_ms }: { from_ms: number; to_ms: number }): boolean {
  return from_ms <= to_ms;
}
const NO_WINDOW = {
  path: ['to_ms'],
  message: 'lies before from_ms; give a window that ends after it begins',
};
const windowFields = { from_ms: timeSchema, to_ms: timeSchema };
/** `GET /activity/composite?from_ms=&to_ms=`: milliseconds since the Unix epoch, half open (TMP-6). */
export const activityWindowSchema = z.object(windowFields).refine(isWindow, NO_WINDOW);

/** `GET /activity?from_ms=&to_ms=`, as the composite has them (TMP-1). */
export const activityQuerySchema = z
  .object({ ...windowFields, origin: z.string().optional() })
  .refine(isWindow, NO_WINDOW);

const activityBucketSchema = z.object({
  /** Start of the minute in milliseconds; the oldest minutes may be merged into the start of their hour or day. */
  m: z.number().int(),
  /** Harness session; null if the hook did not report it. */
  s: z.string().nullable(),
  cwd: z.string().nullable(),
  /**
   * `attention`: a person typed, or wrote a message that was given to the worker; `notify`: a worker began to wait for a person; `agent`: any other action of an agent;
   * `reply`: a turn ended (counted in addition to its `agent`).
   */
  k: z.enum(['attention', 'notify', 'agent', 'reply']),
  n: z.number().int(),
});

/** The window, rounded inward to whole minutes (REC-9). */
export const activitySchema = z.object({
  host: z.string(),
  from_ms: z.number().int(),
  to_ms: z.number().int(),
  buckets: z.array(activityBucketSchema),
});
export type Activity = z.infer<typeof activitySchema>;

export const activityCompositeSchema = compositeOf(activitySchema);
export type ActivityComposite = z.infer<typeof activityCompositeSchema>;
