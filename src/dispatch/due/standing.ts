import { decodeTime } from 'ulid';
import { messageOf } from '../../base/errors.ts';
import { offsetAt } from '../../base/zone-offset.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { requireZone, scheduleAfter } from '../../fibers/field-values.ts';
import { timeOf } from '../world/documents.ts';

/** When a standing role runs next, in milliseconds since the Unix epoch. */
export type Due =
  | { kind: 'due'; occurrence: number }
  | { kind: 'later'; next: number }
  /** `of`: the field that keeps it from ever being due. */
  | { kind: 'never'; of: 'schedule' | 'tz'; error: string };

/** Local zone of the machine, used for a role without `svc.tz`. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Whether a cron occurrence has passed since the role was last served (STD-1): the later of
 * `dispatched_at`, `handed_off_at` and the fiber's creation. Any number of missed occurrences is one run. A role
 * of which no such moment is known waits for its next occurrence.
 */
export function standingDue(document: FiberDocument, now: number, zone: string): Due {
  const schedule = document.svc?.schedule;
  if (schedule === undefined)
    return { kind: 'never', of: 'schedule', error: 'a standing role needs svc.schedule' };
  const first = firstAfterServed(document, schedule, document.svc?.tz ?? zone, now);
  if (first.kind === 'invalid') return { kind: 'never', of: first.of, error: first.error };
  return first.at <= now ? { kind: 'due', occurrence: first.at } : { kind: 'later', next: first.at };
}

/** Occurrences that are told of a schedule. */
const SEVERAL = 3;

/** The next occurrences of its schedule after a moment; null without a schedule that can be read. */
export function nextOccurrences(document: FiberDocument, now: number, zone: string): number[] | null {
  const schedule = document.svc?.schedule;
  if (schedule === undefined) return null;
  const found: number[] = [];
  while (found.length < SEVERAL) {
    const next = firstAfter(schedule, document.svc?.tz ?? zone, found.at(-1) ?? now);
    if (next.kind === 'invalid') return null;
    found.push(next.at);
  }
  return found;
}

/**
 * The last moment at which this role was served, in milliseconds; null when nothing is recorded. Where the document
 * does not say when it was created, its ULID does.
 */
function servedAt(document: FiberDocument): number | null {
  const runtime = document.svc?.runtime;
  const moments = [
    timeOf(runtime?.dispatched_at),
    timeOf(runtime?.handed_off_at),
    timeOf(document.created_at) ?? mintedAt(document.uid),
  ].filter((at) => at !== null);
  return moments.length === 0 ? null : Math.max(...moments);
}

function mintedAt(uid: string | null): number | null {
  if (uid === null) return null;
  try {
    return decodeTime(uid.toUpperCase());
  } catch {
    return null;
  }
}

/** A document never changes once it is read, so neither does the first occurrence after it was served. */
const known = new WeakMap<FiberDocument, { zone: string; first: Occurrence }>();

function firstAfterServed(document: FiberDocument, schedule: string, zone: string, now: number): Occurrence {
  const before = known.get(document);
  if (before?.zone === zone) return before.first;
  const served = servedAt(document);
  const first = firstAfter(schedule, zone, served ?? now);
  if (served !== null) known.set(document, { zone, first });
  return first;
}

type Occurrence = { kind: 'at'; at: number } | { kind: 'invalid'; of: 'schedule' | 'tz'; error: string };

function firstAfter(schedule: string, zone: string, after: number): Occurrence {
  try {
    requireZone(zone);
  } catch (error) {
    return { kind: 'invalid', of: 'tz', error: `svc.tz: ${messageOf(error)}` };
  }
  try {
    return { kind: 'at', at: occurrenceAfter(schedule, zone, after) };
  } catch (error) {
    return { kind: 'invalid', of: 'schedule', error: `svc.schedule (${zone}): ${messageOf(error)}` };
  }
}

/** More than any change of the clocks moves them. */
const MARGIN_MS = 4 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The first occurrence of a cron schedule after a moment, both in milliseconds since the Unix epoch. The schedule is
 * read on the wall clock of its zone, and what the clock on the wall shows is then found in time (P30): a local time that
 * is skipped comes as much later as the clocks were moved, one that is repeated comes once. A schedule of every hour
 * goes on through a repeated hour, since it means an interval. Throws `invalid_request` as `requireSchedule` does.
 */
export function occurrenceAfter(schedule: string, zone: string, after: number): number {
  const from = after + offsetAt(zone, after) - MARGIN_MS;
  const walls = scheduleAfter(schedule, new Date(from));
  const everyHour = walls.fields.hour.values.length === 24;
  let first = Number.POSITIVE_INFINITY;
  for (;;) {
    const wall = walls.next().getTime();
    const instants = instantsOf(wall, zone);
    for (const at of everyHour ? instants : instants.slice(0, 1)) if (at > after) first = Math.min(first, at);
    if (instants[0]! > first + MARGIN_MS) return first;
  }
}

/** When the clocks of a zone show a wall time, given as if it were UTC; never empty, earliest first. */
function instantsOf(wall: number, zone: string): number[] {
  const [before, later] = [offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)];
  const shown = [...new Set([wall - before, wall - later])].filter((at) => at + offsetAt(zone, at) === wall);
  return shown.length > 0 ? shown.sort((a, b) => a - b) : [wall - before];
}
