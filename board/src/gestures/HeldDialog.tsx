import type { ReactNode } from 'react';
import { useFollowed } from '../lib/board.ts';
import { aimAt } from '../model/aim.ts';
import { keyOf } from '../model/feed-copy.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './Forms.module.css';
import { close, runGesture } from './gestures.ts';
import { heldRows, releaseAll } from './release.ts';

/** The fibers that wait since the restart of the daemon, to be launched one by one or released together. */
export default function HeldDialog(): ReactNode {
  const rows = heldRows(useFollowed());
  return (
    <Dialog title="Held since the restart" onClose={close}>
      <div className={styles.form}>
        <p className={styles.about}>
          {rows.length === 0
            ? 'Nothing is held since the restart any more.'
            : 'Released, they start as soon as they may, standing roles by their schedule.'}
        </p>
        <ul className={styles.rows}>
          {rows.map((row) => (
            <li key={keyOf(row)}>
              <p>
                <b>{row.name}</b>
                <span>
                  {row.id}
                  {row.svc?.agent !== undefined && `, ${row.svc.agent}`}
                </span>
              </p>
              <Button
                size="small"
                aria-label={`Open ${row.name}`}
                onClick={() => runGesture(aimAt(row), 'open')}
              >
                Open
              </Button>
              <Button
                size="small"
                aria-label={`Launch ${row.name}`}
                onClick={() => runGesture(aimAt(row), 'launch')}
              >
                Launch
              </Button>
            </li>
          ))}
        </ul>
        <div className={styles.actions}>
          <Button tone="quiet" onClick={close}>
            Close
          </Button>
          {rows.length > 0 && (
            <Button
              tone="agent"
              onClick={() => {
                close();
                void releaseAll();
              }}
            >
              Release all {rows.length}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
