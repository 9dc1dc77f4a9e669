import { type ReactNode, useMemo, useRef } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { useWhere } from '../lib/url.ts';
import { MINUTE_MS } from '../model/activity.ts';
import type { Card } from '../model/card.ts';
import { areaPath, linePath } from '../model/curve.ts';
import { launchesOf, type Pin, pinWords, type RibbonShape, ribbonShape } from '../model/ribbon.ts';
import { timeOfDay } from '../model/wording.ts';
import styles from './Ribbon.module.css';
import { useRecent } from './recent.ts';
import { useWidth } from './use-width.ts';

const HEIGHT = 64;
/** The line that time runs along, and the top of what stands on it. */
const AXIS = 45;
const TOP = 9;

type Point = RibbonShape['curve'][number];
const placeOf = ({ x, height }: Point) => ({ x, y: AXIS - height * (AXIS - TOP) });

/** What agents did in the past hours, joined to what is launched in the coming ones. */
export default function Ribbon({ cards }: { cards: readonly Card[] }): ReactNode {
  const recent = useRecent();
  const { filter } = useWhere();
  const minute = Number(useTimeText((now) => String(Math.floor(now / MINUTE_MS))));
  const element = useRef<HTMLElement>(null);
  const width = useWidth(element);
  const shape = useMemo(() => {
    const now = Math.max(recent?.known.to ?? 0, minute * MINUTE_MS);
    return width === 0 ? null : { ...ribbonShape(recent, launchesOf(cards), now, width), at: now };
  }, [recent, cards, minute, width]);
  return (
    <section ref={element} className={styles.ribbon} aria-label="The past hours and the next launches">
      {shape !== null && (
        <>
          <Past shape={shape} width={width} />
          <p className={styles.now} style={{ left: shape.now }}>
            now {timeOfDay(shape.at)}
          </p>
          {shape.pins.length === 0 && filter === null && (
            <p className={styles.none} style={{ left: shape.now }}>
              Nothing is scheduled for these hours.
            </p>
          )}
          <ul aria-label="Next launches">
            {shape.pins.map((pin) => (
              <PinView key={pin.launches[0]?.id} pin={pin} width={width} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Past({ shape, width }: { shape: RibbonShape; width: number }): ReactNode {
  const { now, curve, ticks, unknown, hours, tomorrow, pins, label } = shape;
  const places = curve.map(placeOf);
  return (
    <svg className={styles.drawing} width={width} height={HEIGHT} role="img" aria-label={label}>
      <rect className={styles.past} width={now} height={HEIGHT} />
      {tomorrow !== null && (
        <>
          <rect
            className={styles.tomorrow}
            x={tomorrow.x}
            width={Math.max(0, width - tomorrow.x)}
            height={HEIGHT}
          />
          {tomorrow.name !== null && (
            <text x={tomorrow.name.x} y={13}>
              {tomorrow.name.text}
            </text>
          )}
        </>
      )}
      <path className={styles.axis} d={`M0 ${AXIS}.5H${width}`} />
      {hours.map(({ x, text }) => (
        <text key={x} x={x} y={HEIGHT - 5} textAnchor="middle">
          {text}
        </text>
      ))}
      <path className={styles.fill} d={areaPath(places, AXIS)} />
      <path className={styles.edge} d={linePath(places)} />
      <path className={styles.ticks} d={ticks.map((x) => `M${x} ${AXIS - 17}V${AXIS}`).join('')} />
      {unknown.map(({ from, to }) => (
        <path key={from} className={styles.unknown} d={hatching(from, to)} />
      ))}
      <path className={styles.stems} d={pins.map(stemOf).join('')} />
      <path className={styles.nowLine} d={`M${now} 7V${HEIGHT - 12}`} />
    </svg>
  );
}

function stemOf({ x, row }: Pin): string {
  return row === null ? '' : `M${x} ${row === 0 ? AXIS - 17 : AXIS - 29}V${AXIS}`;
}

/** Lines across what was not read. */
function hatching(from: number, to: number): string {
  const rise = AXIS - TOP;
  let path = '';
  for (let x = from - rise; x < to; x += 6) {
    const [start, end] = [Math.max(x, from), Math.min(x + rise, to)];
    if (end > start) path += `M${start} ${AXIS - (start - x)}L${end} ${AXIS - (end - x)}`;
  }
  return path;
}

function PinView({ pin, width }: { pin: Pin; width: number }): ReactNode {
  const { x, launches, label, row, toward } = pin;
  const [first] = launches;
  const words = pinWords(launches);
  return (
    <li
      className={styles.pin}
      data-row={row ?? 'none'}
      data-toward={toward}
      style={toward === 'right' ? { left: x } : { right: width - x }}
    >
      <button type="button" title={words} aria-label={words} onClick={() => first && openFiber(first)}>
        {row !== null && <span>{label}</span>}
      </button>
    </li>
  );
}
