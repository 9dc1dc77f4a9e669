import type { ReactNode } from 'react';
import { useToday } from '../lib/clock.ts';
import type { FiberRow } from '../model/wire.ts';
import { fullMoment, timeIn } from '../model/wording.ts';
import styles from './Outcome.module.css';
import { Part } from './Part.tsx';

/** What came of it so far. The document tells when it was written last, not by whom. */
export function Outcome({ row: { outcome = '', updated_at } }: { row: FiberRow }): ReactNode {
  const today = useToday();
  const at = timeIn(updated_at);
  return (
    <Part title="Outcome" note={at === null ? undefined : `document written ${fullMoment(at, today)}`}>
      {outcome.trim() === '' ? (
        <p className={styles.none}>None yet.</p>
      ) : (
        <p className={styles.outcome}>{outcome.trim()}</p>
      )}
    </Part>
  );
}
