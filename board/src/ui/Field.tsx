import { type ReactNode, useId } from 'react';
import styles from './Field.module.css';

/** What an input gets from its field. */
type FieldInput = {
  id: string;
  className: string;
  'aria-describedby': string;
  'aria-invalid': boolean;
};

type FieldProps = {
  label: string;
  /** What is wrong with what was entered, in the words of the daemon. */
  error?: string | null;
  hint?: ReactNode;
  children(input: FieldInput): ReactNode;
};

/** A label above an input, with what is wrong with it below. */
export function Field({ label, error = null, hint, children }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        className: styles.input ?? '',
        'aria-describedby': `${id}-below`,
        'aria-invalid': error !== null,
      })}
      <p id={`${id}-below`} className={error === null ? styles.hint : styles.error}>
        {error ?? hint}
      </p>
    </div>
  );
}
