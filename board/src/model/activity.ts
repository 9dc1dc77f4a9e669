import type { Activity } from './wire.ts';

export type Bucket = Activity['buckets'][number];
/** A stretch of time in milliseconds since the Unix epoch, half open. */
export type Stretch = { from: number; to: number };
/** What was read of a stretch, by minute. */
export type Recorded = Stretch & { buckets: readonly Bucket[] };
/** How often something happened in the minute that begins at `m`. */
export type Count = { m: number; n: number };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
/** The end of a tool call adds to the minutes that it took, as far back as this. */
export const REVISED_MS = 35 * MINUTE_MS;

/** What is known after another read, as far back as `keep_from`: it replaces what it covers. */
export function joinReads(known: Recorded | null, read: Recorded, keep_from: number): Recorded {
  if (known === null || read.from > known.to || read.to < known.from) return read;
  const from = Math.max(keep_from, Math.min(known.from, read.from));
  const kept = known.buckets.filter(({ m }) => m >= from && (m < read.from || m >= read.to));
  return { from, to: Math.max(known.to, read.to), buckets: [...kept, ...read.buckets] };
}

/** What one session, or all of them, did: acts of the agent, and words of a person. Oldest first. */
export type Trace = { work: readonly Count[]; words: readonly Count[] };
export const NO_TRACE: Trace = { work: [], words: [] };

/** The trace of each session that has a name, and in `all` that of everything. */
export function tracesOf(buckets: readonly Bucket[]): { sessions: ReadonlyMap<string, Trace>; all: Trace } {
  const found = new Map<string, Bucket[]>();
  for (const bucket of buckets) {
    if (bucket.s === null) continue;
    const of = found.get(bucket.s);
    if (of === undefined) found.set(bucket.s, [bucket]);
    else of.push(bucket);
  }
  const sessions = new Map([...found].map(([session, of]) => [session, traceOf(of)]));
  return { sessions, all: traceOf(buckets) };
}

export function traceOf(buckets: readonly Bucket[]): Trace {
  return { work: countsOf(buckets, 'agent'), words: countsOf(buckets, 'attention') };
}

/** The counts of one kind, one for each minute, oldest first. */
export function countsOf(buckets: readonly Bucket[], kind: Bucket['k']): Count[] {
  const counts = new Map<number, number>();
  for (const { m, k, n } of buckets) if (k === kind) counts.set(m, (counts.get(m) ?? 0) + n);
  return [...counts].map(([m, n]) => ({ m, n })).sort((a, b) => a.m - b.m);
}

/** How much of each minute flows into its neighbours, so that a curve shows a stretch of work and not each act. */
const KERNEL = [1, 2, 3, 2, 1].map((weight) => weight / 9);
/** The acts of a minute at which a curve reaches about two thirds of its height. */
const BUSY = 8;

/**
 * The curve of some work over a stretch, as at most `most` samples of one or more whole minutes each: heights from 0 to 1,
 * where 1 is never reached. It has the same scale everywhere.
 */
export function heightsOf(work: readonly Count[], stretch: Stretch, most: number): number[] {
  return levelsOf(work, stretch, most).map((acts) => 1 - Math.exp(-acts / BUSY));
}

/** The same of many together, against the most that they did in that stretch. */
export function sharesOf(work: readonly Count[], stretch: Stretch, most: number): number[] {
  const levels = levelsOf(work, stretch, most);
  const highest = levels.reduce((high, acts) => Math.max(high, acts), BUSY);
  return levels.map((acts) => acts / highest);
}

/** Acts in a minute. */
function levelsOf(work: readonly Count[], { from, to }: Stretch, most: number): number[] {
  const minutes = Math.max(1, Math.ceil((to - from) / MINUTE_MS));
  const spread = new Float64Array(minutes);
  for (const { m, n } of work) {
    const at = Math.floor((m - from) / MINUTE_MS);
    if (at < -KERNEL.length || at >= minutes + KERNEL.length) continue;
    KERNEL.forEach((weight, index) => {
      const minute = at + index - (KERNEL.length - 1) / 2;
      if (minute >= 0 && minute < minutes) spread[minute] = (spread[minute] ?? 0) + n * weight;
    });
  }
  return sampled(spread, most);
}

/** The mean of each of at most `most` equal runs of values. */
export function sampled(values: ArrayLike<number>, most: number): number[] {
  const run = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const samples: number[] = [];
  for (let at = 0; at < values.length; at += run) {
    const end = Math.min(values.length, at + run);
    let sum = 0;
    for (let index = at; index < end; index += 1) sum += values[index] ?? 0;
    samples.push(sum / (end - at));
  }
  return samples;
}

export function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { n }) => sum + n, 0);
}

export function within(counts: readonly Count[], { from, to }: Stretch): Count[] {
  return counts.filter(({ m }) => m >= from && m < to);
}
