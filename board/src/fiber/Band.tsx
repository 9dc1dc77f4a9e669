import type { ReactNode } from 'react';
import { useTimeText } from '../lib/clock.ts';
import type { Card } from '../model/card.ts';
import { STATE_NAMES } from '../model/states.ts';
import { lasting } from '../model/wording.ts';
import styles from './Band.module.css';

/** What the worker waits for, in marigold, as the card tells it; a quiet line with its last words when it is idle. */
export function Band({ card: { band, state, fact } }: { card: Card }): ReactNode {
  const since = band?.tone === 'you' ? band.since : fact?.kind === 'idle' ? fact.at : null;
  const name = STATE_NAMES[state];
  const heading = useTimeText((now) => (since === null ? name : `${name}, ${lasting(now - since)}`));
  if (band === null || band.tone === 'agent') return null;
  return (
    <section className={band.tone === 'you' ? styles.you : styles.idle} aria-label={name}>
      <p className={styles.heading}>{heading}</p>
      {band.text !== null && <p className={styles.said}>{band.text}</p>}
    </section>
  );
}
