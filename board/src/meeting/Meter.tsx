import type { ReactNode } from 'react';
import { meterOf } from '../model/frames.ts';
import styles from './Meter.module.css';

/** How loud it is, of the loudest sample of a moment in decibels below full scale; null of silence. */
export function Meter({ peak_db, label }: { peak_db: number | null; label: string }): ReactNode {
  return (
    <meter className={styles.meter} aria-label={label} min={0} max={1} value={meterOf(peak_db)}>
      {peak_db === null ? 'silence' : `${Math.round(peak_db)} dB`}
    </meter>
  );
}
