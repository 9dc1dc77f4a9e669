import { areaPath, linePath } from '../model/curve.ts';
import type { LaneShape, Mark, Point } from '../model/day-shape.ts';

/** Where a drawing stands in its canvas, in pixels of the page. */
export type Room = { width: number; height: number; axis: number; top: number };

/** The colours of the page as it is shown now. */
export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;
const NAMES = [
  'agent',
  'agent-wash',
  'you',
  'you-wash',
  'fault',
  'ink',
  'ink-2',
  'line',
  'line-strong',
  'ground',
] as const;

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`)])) as Colours;
}

/** Draws a lane, or all of them together, with a line at each of `hours` and one at `now`. */
export function draw(
  canvas: HTMLCanvasElement,
  shape: LaneShape,
  { width, height, axis, top }: Room,
  colours: Colours,
  { hours, now }: { hours: readonly number[]; now: number | null },
): void {
  const density = devicePixelRatio;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.scale(density, density);
  const y = (of: Point) => axis - of.height * (axis - top);
  const upright = (x: number, from: number, to: number) => {
    pen.moveTo(x, from);
    pen.lineTo(x, to);
  };
  const level = (from: number, to: number, at: number) => {
    pen.moveTo(from, at);
    pen.lineTo(to, at);
  };
  const stroke = (colour: string, wide: number, path: () => void) => {
    pen.beginPath();
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    path();
    pen.stroke();
  };

  stroke(colours.line, 1, () => {
    for (const x of hours) upright(Math.round(x) + 0.5, 0, height);
    level(0, width, axis + 0.5);
  });
  for (const { from, to } of shape.unknown) {
    pen.save();
    pen.beginPath();
    pen.rect(from, top, to - from, axis - top);
    pen.clip();
    pen.clearRect(from, top, to - from, axis - top + 1);
    stroke(colours['line-strong'], 1, () => {
      for (let x = from - axis; x < to; x += 6) {
        pen.moveTo(x, axis);
        pen.lineTo(x + axis, 0);
      }
    });
    pen.restore();
  }
  pen.fillStyle = colours['you-wash'];
  for (const { from, to } of shape.waits) pen.fillRect(from, axis - 11, to - from, 11);
  stroke(colours.agent, 1.8, () => {
    for (const { from, to } of shape.spans) level(from, Math.max(to, from + 2), axis);
  });
  stroke(colours.you, 3, () => {
    for (const { from, to } of shape.waits) level(from, to, axis);
  });
  pen.fillStyle = colours['agent-wash'];
  const curves = shape.curves.map((curve) => curve.map((point) => ({ x: point.x, y: y(point) })));
  for (const curve of curves) pen.fill(new Path2D(areaPath(curve, axis)));
  pen.strokeStyle = colours.agent;
  pen.lineWidth = 1.3;
  for (const curve of curves) pen.stroke(new Path2D(linePath(curve)));
  stroke(colours.you, 2.2, () => {
    for (const x of shape.ticks) upright(x, Math.max(top, axis - 24), axis);
  });
  if (now !== null) stroke(colours['ink-2'], 1, () => upright(now, 0, height));
  for (const mark of shape.marks) drawMark(pen, mark, axis, colours);
  if (shape.end !== null) {
    pen.beginPath();
    pen.arc(Math.min(shape.end.x, width - 4), Math.min(y(shape.end), axis - 1), 3.5, 0, 7);
    pen.fillStyle = colours.agent;
    pen.fill();
    stroke(colours.ground, 1.5, () =>
      pen.arc(
        Math.min(shape.end?.x ?? 0, width - 4),
        Math.min(y(shape.end ?? { x: 0, height: 0 }), axis - 1),
        4,
        0,
        7,
      ),
    );
  }
}

/** Marks stand below the line of time, ends on it; each kind has its own form. */
function drawMark(pen: CanvasRenderingContext2D, { x, kind }: Mark, axis: number, colours: Colours): void {
  const below = axis + 8;
  pen.beginPath();
  switch (kind) {
    case 'commit':
      pen.fillStyle = colours.agent;
      pen.moveTo(x, below - 4);
      pen.lineTo(x + 4, below + 3);
      pen.lineTo(x - 4, below + 3);
      pen.closePath();
      pen.fill();
      return;
    case 'file':
      pen.lineWidth = 1.3;
      pen.strokeStyle = colours.agent;
      pen.fillStyle = colours.ground;
      pen.rect(x - 3, below - 4, 6, 7.5);
      pen.fill();
      pen.stroke();
      return;
    case 'death':
      pen.lineWidth = 2;
      pen.strokeStyle = colours.fault;
      pen.moveTo(x - 4, axis - 4);
      pen.lineTo(x + 4, axis + 4);
      pen.moveTo(x + 4, axis - 4);
      pen.lineTo(x - 4, axis + 4);
      pen.stroke();
      return;
    default:
      pen.lineWidth = 1.6;
      pen.strokeStyle = kind === 'closed' ? colours.you : colours.agent;
      pen.fillStyle = colours.ground;
      if (kind === 'closed') {
        pen.moveTo(x, axis - 4.5);
        pen.lineTo(x + 4.5, axis);
        pen.lineTo(x, axis + 4.5);
        pen.lineTo(x - 4.5, axis);
        pen.closePath();
      } else if (kind === 'handoff') pen.arc(x, axis, 3.5, 0, 7);
      else pen.rect(x - 1, axis - 5, 2, 10);
      pen.fill();
      pen.stroke();
  }
}
