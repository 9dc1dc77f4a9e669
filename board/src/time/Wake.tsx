import { type ReactNode, useMemo } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { MINUTE_MS, NO_TRACE } from '../model/activity.ts';
import { areaPath, linePath } from '../model/curve.ts';
import { type Wake as WakeModel, type WakeShape, wakeShape } from '../model/wake.ts';
import { useRecent } from './recent.ts';
import styles from './Wake.module.css';

/** What a wake is drawn in; it is stretched over the width and the height that there are. */
const WIDTH = 1_000;
const HEIGHT = 28;
/** Of the highest curve, so that the dot at its end stays inside. */
const TOP = 5;

type Point = WakeShape['curve'][number];
const placeOf = ({ x, height }: Point) => ({ x: x * WIDTH, y: HEIGHT - height * (HEIGHT - TOP) });

/** The last hour and a half of a worker; `children` instead where nothing is recorded of it. */
export default function Wake({ wake, children }: { wake: WakeModel; children?: ReactNode }): ReactNode {
  const recent = useRecent();
  const minute = Number(useTimeText((now) => String(Math.floor(now / MINUTE_MS))));
  const { session } = wake;
  const shape = useMemo(() => {
    if (recent === null || session === null) return null;
    const now = Math.max(recent.known.to, minute * MINUTE_MS);
    return wakeShape(wake, recent.sessions.get(session) ?? NO_TRACE, recent.known, now);
  }, [recent, session, wake, minute]);
  if (shape === null) return children;
  const { curve, ticks, waits, unknown, label } = shape;
  const places = curve.map(placeOf);
  const end = curve.at(-1);
  return (
    <div className={styles.wake} role="img" aria-label={label}>
      <svg
        className={styles.plot}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path className={styles.fill} d={areaPath(places, HEIGHT)} />
        <path className={styles.edge} d={linePath(places)} />
        {ticks.length > 0 && (
          <path className={styles.ticks} d={ticks.map((at) => `M${at * WIDTH} 6V${HEIGHT}`).join('')} />
        )}
        {waits !== null && (
          <>
            <path
              className={styles.waiting}
              d={`M${waits * WIDTH} 10H${WIDTH}V${HEIGHT}H${waits * WIDTH}Z`}
            />
            <path className={styles.cost} d={`M${waits * WIDTH} ${HEIGHT - 1.5}H${WIDTH}`} />
          </>
        )}
      </svg>
      {unknown.map(({ from, to }) => (
        <span
          key={from}
          className={styles.unknown}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      ))}
      {waits === null && end !== undefined && (
        <span
          className={styles.now}
          style={{
            left: `${end.x * 100}%`,
            top: `${(Math.min(placeOf(end).y, HEIGHT - 4) / HEIGHT) * 100}%`,
          }}
        />
      )}
    </div>
  );
}
