import { type ReactNode, useState } from 'react';
import { singleKeysOff, turnSingleKeys } from '../lib/keys.ts';
import { go } from '../lib/url.ts';
import { KEY_GROUPS } from '../model/key-sheet.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './KeySheet.module.css';

function close(): void {
  go({ sheet: null });
}

/** Every key of the board, and the switch that turns the single ones off. */
export default function KeySheet(): ReactNode {
  const [off, setOff] = useState(singleKeysOff);
  return (
    <Dialog title="Keys" onClose={close}>
      <div className={styles.sheet}>
        <div className={styles.groups} data-off={off}>
          {KEY_GROUPS.map(({ heading, keys }) => (
            <section key={heading}>
              <h3>{heading}</h3>
              <dl>
                {keys.map(([key, does]) => (
                  <div key={key}>
                    <dt>
                      {key.split(' ').map((one) => (
                        <kbd key={one}>{one}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <label className={styles.off}>
          <input
            type="checkbox"
            checked={off}
            onChange={({ target }) => {
              turnSingleKeys(!target.checked);
              setOff(target.checked);
            }}
          />
          <span>
            Turn single keys off. Arrows, Enter and Escape always work; everything is in the menu of a card
            too.
          </span>
        </label>
        <div className={styles.actions}>
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
