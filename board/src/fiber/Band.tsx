import type { ReactNode } from 'react';
import { useTimeText } from '../lib/clock.ts';
import type { FiberRow } from '../model/wire.ts';
import { lasting } from '../model/wording.ts';
import styles from './Band.module.css';

/** What the worker waits for, in marigold; a quiet line with its last words when it is idle. */
export function Band({ runtime }: { runtime: NonNullable<FiberRow['runtime']> }): ReactNode {
  const { phase, phase_since, said } = runtime;
  const waits = phase === 'waiting' || phase === 'attention';
  const name = waits ? 'Waiting for you' : 'Idle';
  const heading = useTimeText((now) =>
    phase_since === null ? name : `${name}, ${lasting(now - phase_since)}`,
  );
  if (!waits && (phase !== 'idle' || said === null)) return null;
  return (
    <section className={waits ? styles.you : styles.idle} aria-label={name}>
      <p className={styles.heading}>{heading}</p>
      {said !== null && <p className={styles.said}>{said}</p>}
    </section>
  );
}
