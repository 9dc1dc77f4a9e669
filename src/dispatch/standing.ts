import { CronExpressionParser } from 'cron-parser';
import { messageOf } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';

/** When a standing role runs next, in milliseconds since the Unix epoch. */
export type Due =
  | { kind: 'due'; occurrence: number }
  | { kind: 'later'; next: number }
  | { kind: 'never'; error: string };

/** Local zone of the machine, used for a role without `svc.tz`. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Whether a cron occurrence has passed since the role was last served (STD-1): the later of
 * `dispatched_at`, `handed_off_at` and the fiber's creation. Any number of missed occurrences is one run.
 */
export function standingDue(document: FiberDocument, now: number, zone: string): Due {
  const schedule = document.svc?.schedule;
  if (schedule === undefined) return { kind: 'never', error: 'a standing role needs svc.schedule' };
  const first = firstAfterServed(document, schedule, document.svc?.tz ?? zone);
  if (first.kind === 'invalid') return { kind: 'never', error: first.error };
  return first.at <= now ? { kind: 'due', occurrence: first.at } : { kind: 'later', next: first.at };
}

/** The last moment at which this role was served, in milliseconds; 0 when nothing is recorded. */
export function servedAt(document: FiberDocument): number {
  const runtime = document.svc?.runtime;
  return Math.max(
    0,
    ...[runtime?.dispatched_at, runtime?.handed_off_at, document.created_at]
      .map((text) => (text === undefined ? Number.NaN : Date.parse(text)))
      .filter((at) => !Number.isNaN(at)),
  );
}

/** A document never changes once it is read, so neither does the first occurrence after it was served. */
const known = new WeakMap<FiberDocument, { zone: string; first: Occurrence }>();

function firstAfterServed(document: FiberDocument, schedule: string, zone: string): Occurrence {
  const before = known.get(document);
  if (before?.zone === zone) return before.first;
  const first = occurrenceAfter(schedule, zone, servedAt(document));
  known.set(document, { zone, first });
  return first;
}

type Occurrence = { kind: 'at'; at: number } | { kind: 'invalid'; error: string };

function occurrenceAfter(schedule: string, zone: string, after: number): Occurrence {
  try {
    const cron = CronExpressionParser.parse(schedule, { currentDate: new Date(after), tz: zone });
    return { kind: 'at', at: cron.next().getTime() };
  } catch (error) {
    return { kind: 'invalid', error: `svc.schedule "${schedule}" (${zone}): ${messageOf(error)}` };
  }
}
