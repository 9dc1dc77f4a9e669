import type { ReactNode } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { go } from '../lib/url.ts';
import { agedText, type HostLine } from '../model/hosts.ts';
import { HostTicks } from '../ui/HostTicks.tsx';
import styles from './HostItem.module.css';

/** A host that is not fresh, in one line of the rail; opens the list of all hosts. */
export function HostItem({ line, tab_stop }: { line: HostLine; tab_stop: boolean }): ReactNode {
  const age = useTimeText((now) => agedText(line, now));
  return (
    <button
      type="button"
      className={styles.host}
      tabIndex={tab_stop ? 0 : -1}
      onClick={() => go({ sheet: 'hosts' })}
    >
      <HostTicks ticks={[line.tick]} />
      <span className={styles.name}>{line.host}</span>
      <span className={styles.age}>{age}</span>
    </button>
  );
}
