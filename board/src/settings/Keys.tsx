import { type ReactNode, useState } from 'react';
import { singleKeysOff, turnSingleKeys } from '../lib/keys.ts';
import styles from './Settings.module.css';

/** The switch for single keys: who speaks to the browser would press them by speaking. */
export function Keys(): ReactNode {
  const [on, setOn] = useState(!singleKeysOff());
  return (
    <>
      <h2 className={styles.title}>Keys</h2>
      <section className={styles.box} aria-label="Single keys">
        <h3>Single keys</h3>
        <div className={styles.inside}>
          <p className={styles.about}>
            A letter alone does something on the board, such as s for Stash. Turn that off if you speak to
            your browser, or press letters by accident. Arrows, Enter and Escape always work. Kept in this
            browser alone.
          </p>
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={on}
              onChange={({ target }) => {
                turnSingleKeys(target.checked);
                setOn(target.checked);
              }}
            />
            Letters alone do something
          </label>
        </div>
      </section>
    </>
  );
}
