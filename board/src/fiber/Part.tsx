import { type ReactNode, useId } from 'react';
import type { Read } from '../lib/reads.ts';
import { Button } from '../ui/Button.tsx';
import styles from './Part.module.css';

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
  return (
    <>
      {value !== undefined && children(value)}
      {refusal !== null && (
        <div className={styles.refusal} role="alert">
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
