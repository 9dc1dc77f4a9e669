/** A point in pixels. */
export type Point = { x: number; y: number };

/**
 * The SVG path of a smooth line through points that stand from left to right; empty without points. Between two points the
 * line stays between their heights (Steffen 1990), so that it shows no peak that was not measured.
 */
export function linePath(points: readonly Point[]): string {
  const slopes = slopesOf(points);
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1];
      if (before === undefined) return `M${x} ${y}`;
      const third = (x - before.x) / 3;
      const [from, to] = [slopes[index - 1] ?? 0, slopes[index] ?? 0];
      return `C${before.x + third} ${before.y + third * from} ${x - third} ${y - third * to} ${x} ${y}`;
    })
    .join('');
}

/** The path of the area between that line and the height `base`; empty without points. */
export function areaPath(points: readonly Point[], base: number): string {
  const [first, last] = [points[0], points.at(-1)];
  return first === undefined || last === undefined ? '' : `${linePath(points)}L${last.x} ${base}H${first.x}Z`;
}

function slopesOf(points: readonly Point[]): number[] {
  const rises = points.slice(1).map(({ x, y }, index) => {
    const before = points[index] ?? { x, y };
    return { width: x - before.x, slope: x === before.x ? 0 : (y - before.y) / (x - before.x) };
  });
  const inner = rises.slice(1).map((after, index) => {
    const before = rises[index] ?? after;
    if (before.slope * after.slope <= 0) return 0;
    const mean =
      (before.slope * after.width + after.slope * before.width) / (before.width + after.width || 1);
    return Math.sign(mean) * Math.min(2 * Math.abs(before.slope), 2 * Math.abs(after.slope), Math.abs(mean));
  });
  const end = (rise: number | undefined, next: number | undefined) =>
    rise === undefined ? 0 : next === undefined ? rise : (3 * rise - next) / 2;
  return [end(rises[0]?.slope, inner[0]), ...inner, end(rises.at(-1)?.slope, inner.at(-1))];
}
