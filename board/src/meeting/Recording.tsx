import type { ReactNode } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { go } from '../lib/url.ts';
import { type Pill, pillOf, SELDOM_MS } from '../model/meeting.ts';
import { Meter } from './Meter.tsx';
import { useMeeting } from './meeting.ts';
import styles from './Recording.module.css';

/** Says at the edge of the board that a meeting is recorded, and opens it. */
export default function Recording(): ReactNode {
  const known = useMeeting(SELDOM_MS);
  // As a text, so that it is drawn again only where a word of it changes.
  const pill = JSON.parse(useTimeText((now) => JSON.stringify(pillOf(known, SELDOM_MS, now)))) as Pill | null;
  if (pill === null) return null;
  return (
    <button
      type="button"
      className={styles.pill}
      data-pill={pill.tone}
      onClick={() => go({ sheet: 'meeting' })}
    >
      <span className={styles.dot} aria-hidden="true" />
      <span className={styles.title}>{pill.title}</span>
      {pill.peak_db !== null && (
        <span className={styles.level}>
          <Meter peak_db={pill.peak_db} label="How loud it was last" />
        </span>
      )}
      <span className={styles.says}>{pill.says}</span>
    </button>
  );
}
