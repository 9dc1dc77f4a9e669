import type { ReactNode } from 'react';
import styles from './Hidden.module.css';

/** Text for screen readers alone. */
export function Hidden({ children }: { children: ReactNode }): ReactNode {
  return <span className={styles.hidden}>{children}</span>;
}
