import {
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useDarkScheme } from '../lib/media.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { type Stretch, sumOf } from '../model/activity.ts';
import { type Fleet, type Lane, linesOf } from '../model/day-lanes.ts';
import { fleetShape, type LaneShape, laneShape, momentAt, scale } from '../model/day-shape.ts';
import { ticksOf } from '../model/day-window.ts';
import { changeText, fleetLabel, laneLabel, workText } from '../model/day-words.ts';
import { STATE_NAMES, stateOf } from '../model/states.ts';
import { timeOfDay } from '../model/wording.ts';
import { useWidth } from '../time/use-width.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './Chart.module.css';
import { coloursOf, draw, type Room } from './draw.ts';
import type { Cursor } from './use-cursor.ts';

const FLEET: Omit<Room, 'width'> = { height: 92, axis: 90, top: 10 };
const LANE: Omit<Room, 'width'> = { height: 58, axis: 44, top: 6 };

/** Of the word at the line of now, with a little room. */
const NOW_PX = 30;
/** Half of the time at the cursor. */
const TIME_PX = 26;

/** How far from what is shown a lane is drawn already. */
const NEAR = '400px 0px';

type ChartProps = {
  lanes: readonly Lane[];
  fleet: Fleet;
  /** What some host has not told. */
  unknown: readonly Stretch[];
  now: number;
  cursor: Cursor;
};

/** The lanes of a day below all of them together; what is drawn also stands in a table. */
export function Chart({ lanes, fleet, unknown, now, cursor }: ChartProps): ReactNode {
  const plot = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const width = useWidth(plot);
  const { window, at } = cursor;
  const ticks = useMemo(() => ticksOf(window, width), [window, width]);
  const x = scale(window, width);
  const now_x = now >= window.from && now <= window.to ? x(now) : null;
  const frame = useMemo(
    () => ({ width, hours: ticks.map((tick) => scale(window, width)(tick.at)), now: now_x }),
    [ticks, window, width, now_x],
  );
  const all = useMemo(
    () => fleetShape(fleet, unknown, window, now, width),
    [fleet, unknown, window, now, width],
  );
  usePointer(inside, plot, cursor);
  const { most } = fleet;
  const shown = at >= window.from && at <= window.to;
  return (
    <section className={styles.chart} aria-label="Chart of the day">
      <div ref={inside} className={styles.inside}>
        <div className={styles.fleet}>
          <p className={styles.all}>
            <b>All agents</b>
            {most !== null && (
              <small>
                most at once: {most.n}, at {timeOfDay(most.at)}
              </small>
            )}
          </p>
          <div ref={plot} className={styles.plot}>
            <Drawing shape={all} frame={frame} room={FLEET} label={fleetLabel(fleet, window, unknown)} />
            <p className={styles.axis} data-axis="" aria-hidden="true">
              {ticks.map((tick) =>
                now_x !== null && Math.abs(x(tick.at) - now_x) < NOW_PX ? null : (
                  <span key={tick.at} style={{ left: x(tick.at) }}>
                    {tick.text}
                  </span>
                ),
              )}
              {now_x !== null && (
                <span className={styles.now} style={{ left: now_x }}>
                  now
                </span>
              )}
            </p>
            {shown && (
              <p
                className={styles.time}
                style={{ left: `clamp(${TIME_PX}px, ${x(at)}px, 100% - ${TIME_PX}px)` }}
                aria-hidden="true"
              >
                {timeOfDay(at)}
              </p>
            )}
          </div>
        </div>
        <ul>
          {lanes.map((lane) => (
            <LaneRow key={lane.key} lane={lane} window={window} now={now} frame={frame} />
          ))}
        </ul>
        {shown && (
          <div className={styles.across} aria-hidden="true">
            <div className={styles.cursor} style={{ left: x(at) }} />
          </div>
        )}
      </div>
    </section>
  );
}

/** What all drawings have in common: places in pixels. */
type Frame = { width: number; hours: readonly number[]; now: number | null };

type LaneRowProps = { lane: Lane; window: Stretch; now: number; frame: Frame };

const LaneRow = memo(function LaneRow({ lane, window, now, frame }: LaneRowProps): ReactNode {
  const { width } = frame;
  const shape = useMemo(() => laneShape(lane, window, now, width), [lane, window, now, width]);
  const { fiber, row, host, title, trace, commits } = lane;
  const state = row === null ? null : stateOf(row);
  const lines = changeText(linesOf(commits));
  const spoke = sumOf(trace.words);
  const name = (
    <>
      {state === null ? <span className={styles.none} /> : <Glyph state={state} />}
      <span className={styles.words}>
        <b>{title}</b>
        {state !== null && <Hidden>, {STATE_NAMES[state]}</Hidden>}
        <small>{host}</small>
      </span>
    </>
  );
  return (
    <li className={styles.lane} data-lane={fiber?.id ?? ''}>
      {row === null ? (
        <p className={styles.name}>{name}</p>
      ) : (
        <button type="button" className={styles.name} onClick={() => openFiber(row)}>
          {name}
        </button>
      )}
      <div className={styles.plot}>
        <Drawing shape={shape} frame={frame} room={LANE} label={laneLabel(lane)} />
      </div>
      <p className={styles.figures}>
        <b>{workText(trace.work.length)}</b>
        <small>
          {spoke > 0 && `you ${spoke} `}
          {lines}
        </small>
      </p>
    </li>
  );
});

type DrawingProps = { shape: LaneShape; frame: Frame; room: Omit<Room, 'width'>; label: string };

/** A canvas that is drawn while it is near to what is shown of the page. */
function Drawing({ shape, frame, room, label }: DrawingProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const near = useNear(canvas);
  const dark = useDarkScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the page change with its scheme.
  useLayoutEffect(() => {
    if (canvas.current === null || !near || frame.width === 0) return;
    draw(canvas.current, shape, { ...room, width: frame.width }, coloursOf(canvas.current), frame);
  }, [shape, frame, room, near, dark]);
  return (
    <canvas ref={canvas} role="img" aria-label={label} style={{ width: frame.width, height: room.height }} />
  );
}

/** Whether an element is shown, or soon may be. */
function useNear(element: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting === true), {
      rootMargin: NEAR,
      // The lanes scroll inside the page.
      scrollMargin: NEAR,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return near;
}

/**
 * A mouse over the drawings looks at the time below it, and a click stays there and opens the fiber of its lane; a touch
 * stays there alone. Keys and buttons do the same.
 */
function usePointer(
  inside: RefObject<HTMLElement | null>,
  plot: RefObject<HTMLElement | null>,
  cursor: Cursor,
): void {
  const current = useRef(cursor);
  current.current = cursor;
  useEffect(() => {
    const element = inside.current;
    if (element === null) return;
    let touched = false;
    const timeOf = ({ clientX }: MouseEvent): number | null => {
      const { left = 0, width = 0 } = plot.current?.getBoundingClientRect() ?? {};
      const x = clientX - left;
      return width === 0 || x < 0 || x > width ? null : momentAt(x, current.current.window, width);
    };
    const onMove = (event: PointerEvent) => {
      if (event.pointerType !== 'touch') current.current.preview(timeOf(event));
    };
    const onLeave = () => current.current.preview(null);
    const onDown = (event: PointerEvent) => {
      touched = event.pointerType === 'touch';
    };
    const onClick = (event: MouseEvent) => {
      const at = timeOf(event);
      const target = event.target as Element;
      if (at === null || target.closest('button') !== null) return;
      current.current.place(at);
      if (!touched) target.closest('li')?.querySelector('button')?.click();
    };
    element.addEventListener('pointermove', onMove);
    element.addEventListener('pointerleave', onLeave);
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('click', onClick);
    return () => {
      element.removeEventListener('pointermove', onMove);
      element.removeEventListener('pointerleave', onLeave);
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('click', onClick);
    };
  }, [inside, plot]);
}
