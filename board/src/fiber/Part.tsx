import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import type { Read } from '../lib/reads.ts';
import { Button } from '../ui/Button.tsx';
import styles from './Part.module.css';

const SEVERAL = 6;

type PartProps = {
  title: string;
  /** What stands at the right of the title, such as a count. */
  note?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
};

/** One part of the sheet below its title. */
export function Part({ title, note, action, children }: PartProps): ReactNode {
  const id = useId();
  return (
    <section className={styles.part} aria-labelledby={id} data-part={title}>
      <header className={styles.head}>
        <h3 id={id}>{title}</h3>
        {note !== undefined && <span className={styles.note}>{note}</span>}
        {action}
      </header>
      {children}
    </section>
  );
}

/** What was read of the daemon, or its own sentence on why it cannot be read; the other parts stand without it. */
export function Reading<T>({ read, children }: { read: Read<T>; children(value: T): ReactNode }): ReactNode {
  const { value, refusal, again } = read;
  // The page says already that the daemon is gone, and each part is read by itself once it is back.
  const silent = refusal?.code === 'no_answer';
  return (
    <>
      {value !== undefined && children(value)}
      {refusal !== null && (
        <div className={styles.refusal} data-silent={silent} role={silent ? undefined : 'alert'}>
          <p>{refusal.message}</p>
          <Button onClick={again}>Try again</Button>
        </div>
      )}
      {value === undefined && refusal === null && <p className={styles.reading}>Reading …</p>}
    </>
  );
}

/** Rows of a name and what it is. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A line of a part that opens what it names. */
export function Row(rest: Omit<ComponentProps<'button'>, 'className' | 'type'>): ReactNode {
  return <button type="button" className={styles.row} {...rest} />;
}

type SeveralProps<T> = { items: readonly T[]; keyOf(item: T): string; item(item: T): ReactNode };

/** The first few of a list, and the rest when it is asked for. */
export function Several<T>({ items, keyOf, item }: SeveralProps<T>): ReactNode {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, SEVERAL);
  return (
    <>
      <ul>
        {shown.map((one) => (
          <li key={keyOf(one)}>{item(one)}</li>
        ))}
      </ul>
      {shown.length < items.length && (
        <Button tone="quiet" onClick={() => setAll(true)}>
          {items.length - shown.length} more
        </Button>
      )}
    </>
  );
}
