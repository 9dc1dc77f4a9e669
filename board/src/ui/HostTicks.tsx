import type { ReactNode } from 'react';
import type { Tick } from '../model/hosts.ts';
import styles from './HostTicks.module.css';

const HEIGHT = 16;
/** From one tick to the next, and the width of one, where there is room for them. */
const PITCH = 5;
const WIDTH = 3;
/** More of them are drawn closer together. */
const MOST_PX = 150;
const HEIGHTS: Readonly<Record<Tick, number>> = { fresh: HEIGHT, stale: 9, none: 5 };

/** One tick for each host: full, hollow and short, or a stub. Says nothing to a screen reader. */
export function HostTicks({ ticks }: { ticks: readonly Tick[] }): ReactNode {
  const width = Math.max(WIDTH, ticks.length * PITCH - (PITCH - WIDTH));
  const narrow = width > MOST_PX;
  return (
    <svg
      className={styles.ticks}
      width={Math.min(width, MOST_PX)}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {ticks.map((tick, index) => {
        const height = HEIGHTS[tick];
        // An outline would fill what is this narrow; its height tells it then.
        const inset = tick === 'stale' && !narrow ? 0.5 : 0;
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: they differ in nothing but their places.
            key={index}
            className={inset > 0 ? styles.hollow : styles[tick]}
            x={index * PITCH + inset}
            y={HEIGHT - height + inset}
            width={(narrow && tick !== 'fresh' ? PITCH : WIDTH) - 2 * inset}
            height={height - 2 * inset}
            rx={narrow ? 0 : 1 - inset}
          />
        );
      })}
    </svg>
  );
}
