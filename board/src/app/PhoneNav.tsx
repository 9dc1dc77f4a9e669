import type { ReactNode } from 'react';
import { go, goTo, useWhere } from '../lib/url.ts';
import styles from './PhoneNav.module.css';

/** What a thumb reaches on a phone. */
export default function PhoneNav(): ReactNode {
  const { view } = useWhere();
  return (
    <nav className={styles.bar} aria-label="Board">
      <button type="button" aria-current={view === 'desk' ? 'page' : undefined} onClick={() => goTo('desk')}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M3 4h4.4v14H3zM8.8 4h4.4v10H8.8zM14.6 4H19v7h-4.4z" />
        </svg>
        Desk
      </button>
      <button type="button" aria-current={view === 'day' ? 'page' : undefined} onClick={() => goTo('day')}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M2.5 17.5h17M3.5 17c2.4 0 2.4-9 5-9s2.2 5.5 4.2 5.5S15.4 5 18.5 5" />
        </svg>
        Day
      </button>
      <button type="button" onClick={() => go({ sheet: 'stash' })}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M4 15.2V18h2.8L17 7.8 14.2 5 4 15.2Z" />
        </svg>
        Stash
      </button>
      <button type="button" className={styles.capture} onClick={() => go({ sheet: 'capture' })}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M11 4v14M4 11h14" />
        </svg>
        Capture
      </button>
      <button
        type="button"
        aria-current={view === 'settings' ? 'page' : undefined}
        onClick={() => goTo('settings')}
      >
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M3 6.5h7m5 0h4M3 15.5h3m5 0h8" />
          <circle cx="12.5" cy="6.5" r="2.4" />
          <circle cx="8.5" cy="15.5" r="2.4" />
        </svg>
        Settings
      </button>
    </nav>
  );
}
