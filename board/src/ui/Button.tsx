import type { ComponentProps, ReactNode } from 'react';
import styles from './Button.module.css';

type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & {
  /**
   * `agent` starts work, `you` answers, `fault` ends something; one of them at most stands out in a place. `agent_line` is
   * for where many stand at once.
   */
  tone?: 'plain' | 'quiet' | 'agent' | 'agent_line' | 'you' | 'fault';
  /** `small` stands in a card. */
  size?: 'small' | 'full';
  /** The single key that does the same. */
  shortcut?: string;
};

export function Button({
  tone = 'plain',
  size = 'full',
  shortcut,
  children,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={`${styles.button} ${styles[tone]}`}
      data-size={size}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {children}
      {shortcut !== undefined && <kbd className={styles.key}>{shortcut}</kbd>}
    </button>
  );
}
