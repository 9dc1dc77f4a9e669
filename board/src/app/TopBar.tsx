import type { ReactNode } from 'react';
import { useTimeText } from '../lib/clock.ts';
import type { Followed } from '../lib/follow-feed.ts';
import type { Contact } from '../model/contact.ts';
import { lasting } from '../model/wording.ts';
import styles from './TopBar.module.css';

/** The age from which a copy that is only polled is told with its age. */
const FRESH_MS = 20_000;

export function TopBar({ followed }: { followed: Followed }): ReactNode {
  return (
    <header className={styles.bar}>
      <h1 id="view" className={styles.view}>
        Desk
      </h1>
      <HostTick followed={followed} />
    </header>
  );
}

/** How fresh what is shown of the host is: a full tick, a hollow short one, or a stub. */
function HostTick({ followed: { copy, contact, heard_at } }: { followed: Followed }): ReactNode {
  const words = useTimeText((now) => freshness(contact, heard_at === null ? null : now - heard_at));
  if (copy === null) return null;
  const tick = contact.kind === 'live' ? styles.live : contact.kind === 'gone' ? styles.gone : styles.behind;
  return (
    <p className={styles.host}>
      <span className={`${styles.tick} ${tick}`} aria-hidden="true" />
      <b>{copy.host}</b> {words}
    </p>
  );
}

function freshness({ kind }: Contact, age: number | null): string {
  if (kind === 'live') return 'live';
  if (kind === 'gone') return 'no answer';
  if (kind === 'booting') return 'is starting';
  return age === null || age < FRESH_MS ? 'every few seconds' : `${lasting(age)} old`;
}
