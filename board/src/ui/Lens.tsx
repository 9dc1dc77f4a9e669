import type { ReactNode } from 'react';
import styles from './Lens.module.css';

export function Lens(): ReactNode {
  return (
    <svg className={styles.lens} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3.5 3.5" />
    </svg>
  );
}
