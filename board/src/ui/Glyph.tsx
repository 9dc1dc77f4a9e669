import type { ReactNode } from 'react';
import type { CardState } from '../model/states.ts';
import styles from './Glyph.module.css';

const RING = <circle cx="7" cy="7" r="4.2" className={styles.quiet} strokeWidth="1.5" />;
const DOTTED = (
  <circle cx="7" cy="7" r="4.6" className={styles.quiet} strokeWidth="1.5" strokeDasharray="1.6 2.2" />
);
const DASH = <path d="M3.2 7h7.6" className={styles.quiet} strokeWidth="1.8" />;

/** One drawing for each state, so that no state is told by colour alone. */
const DRAWINGS: Readonly<Record<CardState, ReactNode>> = {
  draft: RING,
  parked: DASH,
  due: <circle cx="7" cy="7" r="4.4" className={styles.agentLine} strokeWidth="1.8" />,
  launching: (
    <circle cx="7" cy="7" r="4.6" className={styles.agentLine} strokeWidth="1.8" strokeDasharray="2.6 2.2" />
  ),
  working: <circle cx="7" cy="7" r="4.6" className={`${styles.agent} ${styles.breathing}`} />,
  waiting: (
    <>
      <path d="M7 .9 13.1 7 7 13.1.9 7Z" className={styles.you} />
      <path d="M7 3.9v3.7" className={styles.onYou} strokeWidth="1.7" />
      <circle cx="7" cy="9.9" r=".95" className={styles.onYouDot} />
    </>
  ),
  idle: DASH,
  unknown: DOTTED,
  blocked: (
    <>
      <rect x="2" y="2" width="10" height="10" rx="2" className={styles.fault} />
      <path d="M4.6 7h4.8" className={styles.onFault} strokeWidth="1.8" />
    </>
  ),
  held: DASH,
  delayed: DASH,
  scheduled: (
    <>
      <circle cx="7" cy="7" r="5" className={styles.quiet} strokeWidth="1.5" />
      <path d="M7 4.4V7l1.9 1.3" className={styles.quiet} strokeWidth="1.5" />
    </>
  ),
  review: <path d="M7 1.4 12.6 7 7 12.6 1.4 7Z" className={styles.youLine} strokeWidth="1.9" />,
  accepted: <path d="M2.4 7.4 5.6 10.6 11.8 3.6" className={styles.agentLine} strokeWidth="2" />,
  set_aside: <path d="m3.4 3.4 7.2 7.2m0-7.2-7.2 7.2" className={styles.quiet} strokeWidth="1.8" />,
  resting: <path d="M10.8 9.4A5 5 0 0 1 5 2.6a5 5 0 1 0 5.8 6.8Z" className={styles.quietFill} />,
  elsewhere: DOTTED,
};

export function Glyph({ state }: { state: CardState }): ReactNode {
  return (
    <svg className={styles.glyph} width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      {DRAWINGS[state]}
    </svg>
  );
}
