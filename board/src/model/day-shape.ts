import { type Count, heightsOf, MINUTE_MS, type Stretch, sharesOf, within } from './activity.ts';
import { isIn } from './day-book.ts';
import type { End, Fleet, Lane } from './day-lanes.ts';

/** Samples of a curve, however wide it is. */
const MOST_SAMPLES = 360;

export type Point = { x: number; height: number };
type Stripe = { from: number; to: number };
/** `file`: files were sent; the others as the ends of a run. */
export type Mark = { x: number; kind: 'commit' | 'file' | End['kind'] };

/** What is drawn of a stretch of a day: across in pixels, heights from 0 to 1. */
export type LaneShape = {
  /** Curves of work, each from 0 to 0, since nothing is drawn where nothing was done. */
  curves: readonly (readonly Point[])[];
  /** Where a person spoke. */
  ticks: readonly number[];
  /** Where a worker ran. */
  spans: readonly Stripe[];
  /** Where it waited for a person. */
  waits: readonly Stripe[];
  unknown: readonly Stripe[];
  marks: readonly Mark[];
  /** Where a worker is that runs now. */
  end: Point | null;
};

type Drawn = Pick<Lane, 'trace' | 'spans' | 'waits' | 'ends' | 'commits' | 'files' | 'unknown' | 'live'>;

export function laneShape(lane: Drawn, window: Stretch, now: number, width: number): LaneShape {
  const x = scale(window, width);
  const { trace, spans, waits, ends, commits, files, unknown, live } = lane;
  const marks = [
    ...commits.map(({ at }) => ({ at, kind: 'commit' as const })),
    ...files.map(({ at }) => ({ at, kind: 'file' as const })),
    ...ends.map(({ at, kind }) => ({ at, kind })),
  ].filter(({ at }) => isIn(at, window));
  const curves = curvesOf(trace.work, unknown, window, now, width, heightsOf);
  const last = curves.at(-1)?.at(-1);
  const here = live && isIn(now, { from: window.from, to: window.to + 1 });
  return {
    curves,
    ticks: ticksIn(trace.words, window, x),
    spans: stripes(spans, window, x),
    waits: stripes(waits, window, x),
    unknown: stripes(unknown, window, x),
    marks: marks.map(({ at, kind }) => ({ x: x(at), kind })),
    end: here ? { x: x(now), height: last !== undefined && x(now) - last.x < 3 ? last.height : 0 } : null,
  };
}

/**
 * The same of all lanes together, against the most that they did in that stretch. What is known of some hosts is drawn
 * also where others are unknown.
 */
export function fleetShape(
  { trace }: Pick<Fleet, 'trace'>,
  unknown: readonly Stretch[],
  window: Stretch,
  now: number,
  width: number,
): LaneShape {
  const x = scale(window, width);
  return {
    curves: curvesOf(trace.work, [], window, now, width, sharesOf),
    ticks: ticksIn(trace.words, window, x),
    spans: [],
    waits: [],
    unknown: stripes(unknown, window, x),
    marks: [],
    end: null,
  };
}

/** Where a moment is drawn. */
export function scale({ from, to }: Stretch, width: number): (ms: number) => number {
  return (ms) => ((ms - from) / (to - from)) * width;
}

/** The moment that is drawn somewhere. */
export function momentAt(x: number, { from, to }: Stretch, width: number): number {
  return from + (width === 0 ? 0 : x / width) * (to - from);
}

function ticksIn(words: readonly Count[], window: Stretch, x: (ms: number) => number): number[] {
  return within(words, window).map(({ m }) => x(m + MINUTE_MS / 2));
}

function stripes(all: readonly Stretch[], window: Stretch, x: (ms: number) => number): Stripe[] {
  return all
    .filter(({ from, to }) => to >= window.from && from <= window.to)
    .map(({ from, to }) => ({ from: x(Math.max(from, window.from)), to: x(Math.min(to, window.to)) }));
}

/** Curves of work in what is known of the window, up to now. */
function curvesOf(
  work: readonly Count[],
  unknown: readonly Stretch[],
  window: Stretch,
  now: number,
  width: number,
  heights: typeof heightsOf,
): Point[][] {
  const x = scale(window, width);
  const whole = { from: window.from, to: Math.min(window.to, now) };
  return knownOf(whole, unknown).flatMap((stretch) => {
    const from = Math.floor(stretch.from / MINUTE_MS) * MINUTE_MS;
    const near = within(work, { from: from - 5 * MINUTE_MS, to: stretch.to + 5 * MINUTE_MS });
    if (near.length === 0) return [];
    const most = Math.max(8, Math.round((MOST_SAMPLES * (stretch.to - from)) / (window.to - window.from)));
    const samples = heights(near, { from, to: stretch.to }, most);
    const run = Math.ceil(Math.max(1, Math.ceil((stretch.to - from) / MINUTE_MS)) / samples.length);
    const points = samples.map((height, index) => ({
      x: x(Math.min(stretch.to, Math.max(stretch.from, from + (index + 0.5) * run * MINUTE_MS))),
      height,
    }));
    return islands(points);
  });
}

/** What is left of a stretch without others. */
export function knownOf(whole: Stretch, unknown: readonly Stretch[]): Stretch[] {
  let left: Stretch[] = whole.to > whole.from ? [whole] : [];
  for (const { from, to } of unknown)
    left = left.flatMap((one) =>
      to <= one.from || from >= one.to
        ? [one]
        : [
            { from: one.from, to: Math.max(one.from, from) },
            { from: Math.min(one.to, to), to: one.to },
          ].filter((part) => part.to > part.from),
    );
  return left;
}

/** The parts of a curve that are not at zero, each with the zero beside it. */
function islands(points: readonly Point[]): Point[][] {
  const found: Point[][] = [];
  let island: Point[] = [];
  points.forEach((point, index) => {
    if (point.height > 0) {
      const before = points[index - 1];
      if (island.length === 0) island.push(before ?? { x: point.x, height: 0 });
      island.push(point);
    } else if (island.length > 0) {
      found.push([...island, point]);
      island = [];
    }
  });
  if (island.length > 0) found.push(island);
  return found;
}
